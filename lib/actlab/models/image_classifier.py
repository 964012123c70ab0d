"""One-hidden-layer image classifiers without biases, plain or gated. Not a language model; how it is trained stands in
`trainers/stacked.py`.

Shapes: N images of K pixels, w hidden units, C classes.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from actlab.activations import ACTIVATIONS, Activation
from actlab.models.layers import nearest_width

PUBLISHED_STD = 0.02


class FFN(nn.Module):
    """(N, K) -> logits (N, C): ``f(x W_in) W_out``, or ``(f(x W_gate) * (x W_in)) W_out`` where the activation is
    gated.

    The published pair of networks has ``f = ReLU`` plain and ``f = GELU`` gated (Shazeer 2020, arXiv 2002.05202, eqs. 2
    and 5).

    Args:
        features: K, pixels of an image.
        width: w, hidden units after the gate.
        classes: C.
        activation: an entry of the table, plain or gated.
    """

    def __init__(self, features: int, width: int, classes: int, activation: Activation) -> None:
        super().__init__()
        self.activation, self.width = activation, width
        self.w_gate = nn.Parameter(torch.empty(features, width)) if activation.gated else None
        self.w_in = nn.Parameter(torch.empty(features, width))
        self.w_out = nn.Parameter(torch.empty(width, classes))
        self.act = activation.make(features=width)

    def forward(self, x: Tensor) -> Tensor:
        hidden = x @ self.w_in  # (N, w)
        if self.w_gate is not None:
            hidden = torch.cat([x @ self.w_gate, hidden], dim=-1)  # (N, 2w), the gate first
        return self.act(hidden) @ self.w_out

    @torch.no_grad()
    def initialise(self, generator_for: Callable[[str], torch.Generator]) -> None:
        """Every matrix from N(0, 0.02^2), as published, by a generator of its own, made from its name; so that a gated
        network's hidden units start of second order in 0.02.

        Plain and gated networks of one width therefore share ``w_in`` and ``w_out`` where they share a seed.
        """
        for name, parameter in self.named_parameters():
            nn.init.normal_(parameter, 0.0, PUBLISHED_STD, generator=generator_for(name))


def count(features: int, width: int, classes: int, gated: bool) -> int:
    """Parameters of a network, slopes of a learned activation apart."""
    return width * ((2 if gated else 1) * features + classes)


EQUAL_WIDTH, EQUAL_PARAMETERS = "_equal_width", "_equal_parameters"
"""How the names of gated networks end: their width, or their parameter count, is that of a plain network."""


def networks() -> dict[str, str]:
    """The networks of the sweep, each with its activation: ``relu``, ``geglu_equal_width``, ``geglu_equal_parameters``,
    and the same for every activation without parameters of its own (a learned slope would need a training of its
    own)."""
    rows = {}
    for name, activation in ACTIVATIONS.items():
        if not activation.learns:
            for ending in (EQUAL_WIDTH, EQUAL_PARAMETERS) if activation.gated else ("",):
                rows[name + ending] = name
    return rows


def width_of(network: str, features: int, hidden: int, classes: int) -> int:
    """The hidden units that a network has in place of ``hidden`` plain ones: as many, which gives a gated one (2K + C)
    / (K + C) times the parameters; or, at equal parameters, the number whose parameter count is nearest (about half of
    them)."""
    if not network.endswith(EQUAL_PARAMETERS):
        return hidden
    return nearest_width(
        lambda width: count(features, width, classes, gated=True), count(features, hidden, classes, gated=False)
    )
