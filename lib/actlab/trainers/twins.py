"""Networks trained in lockstep: a leader, and followers that start one bit away from it and see the same batches. A
follower may use the leader's slopes in place of its own: under ReLU, the leader's side of the corner.

A follower that copies puts f(a) + f'(a)(b - a) for f(b), with a the leader's input at that place. Under ReLU this is
b where a > 0 and 0 elsewhere: the leader's 0/1 mask, forward and backward. Under a smooth f it is the tangent, so what
bends between a and b is taken away.

Or a follower is ``rescaled``: every ten steps it is put back on its line to the leader, at the distance at which it
began. How fast it leaves again is the largest Lyapunov exponent of training (Benettin et al. 1980).
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer

from actlab.activations import slope
from actlab.errors import BadInput
from actlab.optimizers.steps import step
from actlab.trainers.determinism import reproducible
from actlab.trainers.seeds import derive

RESCALED = "rescaled"
"""The follower that is put back to ``RESCALED_TO`` after the first step and after every ``RESCALED_EVERY``-th from
there: its ``weight_distance`` just before, over ``RESCALED_TO``, is the growth over these steps."""
RESCALED_EVERY = 10
RESCALED_TO = 1e-8
"""L2 distance of all weights: what one bit of one weight is in float32. In float64 rounding adds a millionth of it."""


def rescale(nets: tuple[nn.Module, nn.Module], optimizers: tuple[Optimizer, Optimizer], share: float) -> None:
    """Put a follower at this share of its way from the leader, in weights and in the optimizer's state.

    Args:
        nets, optimizers: the leader's, the follower's; the follower's are changed in place.
        share: above 0; above 1 it moves away.
    """
    for one, other in zip(*(net.parameters() for net in nets), strict=True):
        other.data.copy_(torch.lerp(one.data, other.data, share))
        states = [optimizer.state[weight] for optimizer, weight in zip(optimizers, (one, other), strict=True)]
        for name, value in states[1].items():
            if name != "step":
                value.copy_(torch.lerp(states[0][name], value, share))
                if name == "exp_avg_sq":
                    value.clamp_(min=0)  # a mean of squares, also where it is put further away


def copies(change: str, iteration: int) -> bool:
    """Whether a follower uses the leader's slopes at a step (from 0).

    ``own``, ``rescaled``: never; ``copied``: always; ``copied-50``: in the first 50 steps; ``own-50``: from step 50 on.
    """
    if (found := re.fullmatch(rf"{RESCALED}|(own|copied)(?:-([0-9]+))?", change)) is None:
        raise BadInput(f"a follower is called own, copied, own-STEPS, copied-STEPS or rescaled, not {change!r}")
    mode, until = found.groups()
    switched = until is not None and iteration >= int(until)
    return (mode == "copied") != switched


Seen = list[tuple[Tensor, Tensor]]
"""What entered the leader's activations in its last forward pass, in their order, and the slopes there."""


@dataclass
class Follower:
    """A network that counts where its activations' inputs have another sign than the leader's, and may use the leader's
    slopes."""

    seen: Seen
    copying: bool = False
    signs: list[Tensor] = field(default_factory=list)
    """Of each activation in its order: where the sign is another one."""

    def follow(self, activation: nn.Module, given: tuple[Tensor], out: Tensor) -> Tensor | None:
        """After an activation of the follower: what it gives in place of ``out``; a finished network is measured as it
        is."""
        if not activation.training:
            return None
        (a, slope_at_a), b = self.seen[len(self.signs)], given[0]
        self.signs.append((b.detach() > 0) != (a > 0))
        return activation.forward(a) + slope_at_a * (b - a) if self.copying else None

    @property
    def apart(self) -> float:
        """Share of the inputs whose sign is another one."""
        return sum(int(each.sum()) for each in self.signs) / sum(each.numel() for each in self.signs)


def hook(net: nn.Module, after: Callable[[nn.Module, tuple[Tensor], Tensor], Tensor | None]) -> None:
    """Call a function after every activation of a network (its submodules called ``act``)."""
    for module in net.modules():
        if isinstance(activation := getattr(module, "act", None), nn.Module):
            activation.register_forward_hook(after)


@torch.no_grad()
def distance(tensors: Sequence[Tensor], others: Sequence[Tensor]) -> float:
    """L2 norm of the difference of two lists of tensors."""
    return math.sqrt(sum((a - b).double().square().sum().item() for a, b in zip(tensors, others, strict=True)))


def measured_at(iteration: int, iterations: int) -> bool:
    """Whether a step is measured: each of the first 100, then every tenth, and the last."""
    return iteration < 100 or iteration % 10 == 0 or iteration == iterations - 1


def train_together(
    leader: nn.Module,
    followers: Mapping[str, nn.Module],
    batch: Callable[[int], tuple[Tensor, Tensor]],
    iterations: int,
    optimizer: Callable[[nn.Module], Optimizer],
    seed: int,
    on_progress: Callable[[int, float], None] | None = None,
) -> Iterator[dict[str, float | str]]:
    """Train a leader and its followers in lockstep: the same batches and the same dropout masks at every step.

    Args:
        leader, followers: freshly initialised on the CPU; the followers by their names (``copies``). Changed in place.
        batch: (inputs, targets) of a step (from 0), both (B, T) int64.
        iterations: steps.
        optimizer: a fresh one of a network.
        seed: makes the stream ``dropout``, as in ``loop``.
        on_progress: called with (iteration, the leader's loss) after each step.

    Yields:
        A row a measured step and follower: ``iteration`` (steps before it), ``change`` (the follower), ``sides_apart``
        (share of activation inputs whose sign differs), ``gradient_distance`` (relative: norm of the difference over
        the leader's norm), ``weight_distance`` (after the step, L2).
    """
    seen: Seen = []

    def note(activation: nn.Module, given: tuple[Tensor], out: Tensor) -> None:
        """After an activation of the leader."""
        if activation.training:
            seen.append((given[0].detach(), slope(activation.forward, given[0])))

    hook(leader, note)
    beside = {name: Follower(seen) for name in followers}
    for name, net in followers.items():
        hook(net, beside[name].follow)
    nets = {"": leader, **followers}
    optimizers = {name: optimizer(net.train()) for name, net in nets.items()}
    with reproducible(derive(seed, "dropout")):
        for iteration in range(iterations):
            inputs, targets = batch(iteration)
            dropout = torch.get_rng_state()
            seen.clear()
            losses = {}
            for name, net in nets.items():
                if name in beside:
                    beside[name].signs.clear()
                    beside[name].copying = copies(name, iteration)
                torch.set_rng_state(dropout)
                optimizers[name].zero_grad(set_to_none=True)
                losses[name] = F.cross_entropy(net(inputs).flatten(0, 1), targets.flatten())
                losses[name].backward()  # type: ignore[no-untyped-call]
            names = followers if measured_at(iteration, iterations) else ()
            gradients = {name: [w.grad for w in nets[name].parameters() if w.grad is not None] for name in ("", *names)}
            norm = distance(gradients[""], [torch.zeros(())] * len(gradients[""])) if names else math.nan
            apart = {name: distance(gradients[name], gradients[""]) / norm for name in names}
            for each in optimizers.values():
                step(each)
            if on_progress is not None:
                on_progress(iteration + 1, losses[""].item())
            for name in names:
                away = distance([*nets[name].parameters()], [*leader.parameters()])
                yield {
                    "iteration": iteration,
                    "change": name,
                    "sides_apart": beside[name].apart,
                    "gradient_distance": apart[name],
                    "weight_distance": away,
                }
                if name == RESCALED and iteration % RESCALED_EVERY == 0 and away:
                    rescale((leader, nets[name]), (optimizers[""], optimizers[name]), RESCALED_TO / away)
