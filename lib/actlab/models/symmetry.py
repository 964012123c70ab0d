"""Symmetry breaking in attention: random, unlearned vectors added to queries, keys and values.

Silverstein, Kunin & Shyam 2026, arXiv 2601.22257.
"""

from typing import final

import torch
from torch import Tensor, nn

ROLES = ("query", "key", "value")
MODES: dict[str, tuple[str, ...]] = {
    "symmetric": (),
    "bQ": ("query",),
    "bQbV": ("query", "value"),
    "bQbKbV": ROLES,
}
"""What each mode adds to. A vector on the keys cancels in the softmax; it is there to show that."""

POLICIES = ("last", "mean")
"""In evaluation: the last training draw, or the mean of the distribution."""


def distributions(head_size: int) -> dict[str, tuple[Tensor, Tensor]]:
    """(mean, standard deviation) of the vector of each role, (head_size,) each, as published."""
    return {
        "query": (torch.full((head_size,), 0.5), torch.linspace(0.05, 0.15, head_size)),
        "key": (torch.full((head_size,), 0.3), torch.linspace(0.12, 0.08, head_size)),
        "value": (torch.zeros(head_size), torch.full((head_size,), 0.05)),
    }


@final
class SymmetryBreaking(nn.Module):
    """The vectors of one layer, one a role, shared by its heads and by all sequences of a batch; never learned.

    ``draw`` replaces them from the layer's own generator; the last draw and the generator's place go through
    ``state_dict``, so a resumed run draws what an uninterrupted one would have. Before the first draw the vectors are
    their means.

    Args:
        mode: a key of ``MODES``.
        head_size: hs, the length of a vector.
    """

    def __init__(self, mode: str, head_size: int) -> None:
        super().__init__()
        self.generator = torch.Generator()
        known = distributions(head_size)
        self.known = {role: known[role] for role in MODES[mode]}
        for role, mean in self.means().items():
            self.register_buffer(role, mean.clone())

    def vectors(self) -> dict[str, Tensor]:
        """role -> (hs,) as it stands now."""
        return dict(self.named_buffers())

    def draw(self) -> None:
        """New vectors, from the layer's own stream."""
        for role, (mean, spread) in self.known.items():
            self.get_buffer(role).copy_(mean + spread * torch.randn(len(mean), generator=self.generator))

    def means(self) -> dict[str, Tensor]:
        """role -> (hs,), the expectation of a draw."""
        return {role: mean for role, (mean, _) in self.known.items()}

    def get_extra_state(self) -> Tensor:
        """The generator's place in its stream."""
        return self.generator.get_state()

    def set_extra_state(self, state: Tensor) -> None:
        """Go to a saved place in the stream."""
        self.generator.set_state(state.cpu())
