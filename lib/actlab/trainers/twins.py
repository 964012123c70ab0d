"""Networks trained in lockstep: a leader, and followers that see the same batches. Most start as the leader but for a
tiny first change; some use the slopes of another network in place of their own: under ReLU, its sides of the corner.

A follower that copies puts f(a) + f'(a)(b - a) for f(b), with a the input of the other network at that place. Under
ReLU this is b where a > 0 and 0 elsewhere: the other's 0/1 mask, forward and backward. Under a smooth f it is the
tangent, so what bends between a and b is taken away.

Or a follower is ``rescaled``: every ten steps it is put back on its line to the leader, at the distance at which it
began. How fast it leaves again is the largest Lyapunov exponent of training (Benettin et al. 1980).
"""

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.activations import slope
from actlab.metrics import total_variation
from actlab.models import LanguageModel
from actlab.trainers.determinism import nudge_one_weight, reproducible
from actlab.trainers.seeds import derive
from actlab.trainers.windows import Windows

RESCALED_EVERY = 10
RESCALED_TO = 1e-8
"""L2 distance of all weights: what one bit of one weight is in float32. In float64 rounding adds a millionth of it."""
LEADER = ""
NEAR = 0.03
"""An input is near the corner where it is below this share of the root mean square of its layer's inputs."""


@dataclass(frozen=True)
class Design:
    """How a follower starts, whose slopes it uses, and with which networks it is compared."""

    change: str = "bit"
    """Of one weight at the start: ``bit`` of float32, ``second bit`` (of the next weight), ``ulp`` of its own type, a
    size such as ``1e-9``; or of all: ``seed``. Empty: none."""
    source: str | None = None
    """The network whose slopes it uses; ``None``: its own."""
    copying: range = range(sys.maxsize)
    """The steps in which it uses them."""
    near: bool | None = None
    """It copies only where the source's input is near the corner (True), or only elsewhere (False)."""
    beside: tuple[str, ...] = (LEADER,)
    """The networks that it is compared with."""
    flip: int | None = None
    """The step in which the gate of its first activation whose input is nearest to 0 is flipped."""
    rescaled: bool = False
    """It is put back to ``RESCALED_TO`` after the first step and after every ``RESCALED_EVERY``-th from there: its
    ``weight_distance`` just before, over ``RESCALED_TO``, is the growth over these steps."""


def begin(net: LanguageModel, change: str, dtype: torch.dtype) -> LanguageModel:
    """Make the first change of its design in a fresh network in float32, and bring it to the type in which it
    trains."""
    if "bit" in change:
        nudge_one_weight(net, place=int(change == "second bit"))
    net.to(dtype)
    if change == "ulp":
        nudge_one_weight(net)
    elif change.startswith("1e-"):
        nudge_one_weight(net, size=float(change))
    return net


@dataclass
class Network:
    """A network in lockstep, with what enters its activations in a forward pass, in their order."""

    name: str
    net: LanguageModel
    design: Design = Design("")
    source: "Network | None" = None
    """The network whose slopes it uses."""
    optimizer: Any = None
    """What steps it; ``None``: nothing."""
    step: int | None = None
    """The step of the forward pass that is under way; ``None``: it is an ordinary network."""
    inputs: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        for module in self.net.modules():
            if isinstance(activation := getattr(module, "act", None), nn.Module):
                activation.register_forward_hook(self.after)

    def logits(self, tokens: Tensor, step: int | None) -> Tensor:
        """Compute them as in a step of the training, or (``None``) as an ordinary network; with dropout where gradients
        are asked for."""
        self.step = step
        self.inputs.clear()
        logits = self.net.train(torch.is_grad_enabled())(tokens)
        self.step = None
        return logits

    def backward(self, tokens: Tensor, targets: Tensor, step: int) -> float:
        """Compute the gradients of a step; return its loss."""
        self.net.zero_grad()
        loss = F.cross_entropy(self.logits(tokens, step).flatten(0, 1), targets.flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.item()

    def gradients(self) -> list[Any]:
        """List those of its weights."""
        return [weight.grad for weight in self.net.parameters()]

    def after(self, activation: nn.Module, given: tuple[Tensor], out: Tensor) -> Tensor | None:
        """Return what an activation gives in place of ``out``; ``None``: that."""
        if self.step is None:
            return None
        b, place, near = given[0], len(self.inputs), self.design.near
        self.inputs.append(b.detach())
        if self.step == self.design.flip and place == 0 and self.net.training:
            nearest = torch.arange(b.numel()).view_as(b) == b.abs().argmin()
            return torch.where(nearest, b - out, out)  # of relu: b where it gave 0, and 0 where it gave b
        if self.source is None or self.step not in self.design.copying:
            return None
        a = self.source.inputs[place]
        with torch.enable_grad():
            slope_at_a = slope(activation.forward, a)
        tangent = activation.forward(a) + slope_at_a * (b - a)
        return tangent if near is None else torch.where((a.abs() < reach(a)) == near, tangent, out)


@torch.no_grad()
def norm(tensors: Iterable[Tensor]) -> float:
    """Return the L2 norm of all these tensors together, in double precision."""
    return math.sqrt(sum(tensor.double().square().sum().item() for tensor in tensors))


def distance(ones: Iterable[Tensor], others: Iterable[Tensor]) -> float:
    """Return the norm of the difference of matching tensors."""
    return norm(a - b for a, b in zip(ones, others, strict=True))


def reach(a: Tensor) -> Tensor:
    """Return the largest input of a layer that is near the corner."""
    return NEAR * a.square().mean().sqrt()


def crossings(a: Tensor, b: Tensor) -> Tensor:
    """Count, of a layer's inputs in two networks: (all, those with another sign, the density of the first one's at 0,
    the crossings that follow from it and from how far the inputs of the two are apart there)."""
    near, width = a.abs() < reach(a), 2 * reach(a).double()
    counts = a.new_tensor(a.numel()), ((a > 0) != (b > 0)).sum(), near.sum() / width
    return torch.stack([*counts, (b - a)[near].abs().sum() / width]).double()


NOTHING = torch.zeros(4, dtype=torch.float64)
"""The ``crossings`` of no step."""


@dataclass
class Pair:
    """Two networks that are compared, along their training."""

    one: Network
    other: Network
    last: Tensor = NOTHING
    """The ``crossings`` of the last step."""
    since: Tensor = NOTHING
    """Those since the last measured step."""
    first: dict[str, int] = field(default_factory=dict)
    """The first step with a crossing, if there was one."""

    def count(self, iteration: int) -> None:
        """Count the crossings of a step."""
        layers = zip(self.one.inputs, self.other.inputs, strict=True)
        self.last = torch.stack([crossings(a, b) for a, b in layers]).sum(0)
        self.since = self.since + self.last
        if self.last[1] and not self.first:
            self.first = {"first_crossing": iteration}

    def gradient_distance(self) -> float:
        """Return the norm of the difference of the gradients over that of the first one's."""
        gradients = self.one.gradients()
        return distance(gradients, self.other.gradients()) / norm(gradients)

    def row(self) -> dict[str, float]:
        """Return the columns of a measured step; the counts begin anew."""
        inputs, crossed, density, expected = self.last.tolist()
        _, all_crossed, _, all_expected = self.since.tolist()
        self.since = NOTHING
        return {
            "sides_apart": crossed / inputs,
            "inputs": int(inputs),
            "corner_density": density / inputs,
            "corner_distance": expected / density if density else math.nan,
            "crossings": int(all_crossed),
            "expected_crossings": all_expected,
            **self.first,
        }


@torch.no_grad()
def compared(networks: Iterable[Network], pairs: Sequence[Pair], windows: Windows, step: int) -> list[dict[str, float]]:
    """Measure the total variation of each pair, as ordinary networks and with the slopes with which they train
    (``_as_trained``), and the second's loss with these."""
    rows: list[dict[str, float]] = [{} for _ in pairs]
    for ending, at in (("", None), ("_as_trained", step)):
        logits = defaultdict[str, list[Tensor]](list)
        for tokens in torch.split(windows.inputs, 32):
            for each in networks:
                logits[each.name].append(each.logits(tokens, at))
        for row, pair in zip(rows, pairs, strict=True):
            p, q = (torch.cat(logits[each.name]).flatten(0, 1).double() for each in (pair.one, pair.other))
            row[f"total_variation{ending}"] = total_variation(p.softmax(-1), q.softmax(-1))
            if ending:
                row[f"val_loss{ending}"] = F.cross_entropy(q, windows.targets.flatten()).item()
    return rows


def rescale(leader: Network, follower: Network, share: float) -> None:
    """Put a follower at this ``share`` of its way from the leader, in weights and in the optimizer's state; above 1 it
    moves away."""
    for one, other in zip(leader.net.parameters(), follower.net.parameters(), strict=True):
        other.data.copy_(torch.lerp(one.data, other.data, share))
        for name, value in follower.optimizer.state[other].items():
            value.copy_(torch.lerp(leader.optimizer.state[one][name], value, share))
            if name == "exp_avg_sq":
                value.clamp_(min=0)  # a mean of squares, also where it is put further away


def train_together(
    networks: Sequence[Network],
    batch: Callable[[int], tuple[Tensor, Tensor]],
    iterations: int,
    seed: int,
    windows: Windows,
    evaluate_every: int,
    on_progress: Callable[[int, float], None] | None = None,
) -> Iterator[dict[str, float | str]]:
    """Train a leader and its followers in lockstep: the same batches and the same dropout masks at every step.

    Args:
        networks: after their first changes, on the CPU: the leader, then its followers, a source before those who copy
            it. Changed in place.
        batch: (inputs, targets) of a step (from 0), both (B, T) int64.
        iterations: steps.
        seed: makes the stream ``dropout``, as in ``loop``.
        windows: on which predictions are compared, every ``evaluate_every`` steps and at the last.
        on_progress: called with (iteration, the leader's loss) after each step.

    Yields:
        A row a measured step (each of the first 100, then every tenth, and the last), follower and network beside it:
        ``iteration`` (steps before it), ``change`` (the follower), ``beside`` (the other), ``sides_apart`` (share of
        activation inputs whose sign differs),
        ``crossings`` and ``expected_crossings`` since the last row, ``first_crossing``, ``inputs``, ``corner_density``
        (inputs at 0, for each input and unit) and ``corner_distance`` (mean difference of the inputs near the corner:
        the product of the three is what is expected of this step), ``gradient_distance`` (norm of the difference over
        the other's norm), ``weight_distance`` (after the step, L2) and, where it is compared, ``compared``.
    """
    named = {network.name: network for network in networks}
    pairs = [Pair(named[beside], network) for network in networks for beside in network.design.beside]
    with reproducible(derive(seed, "dropout")):
        for iteration in range(iterations):
            last = iteration == iterations - 1
            tokens, targets = batch(iteration)
            dropout, losses = torch.get_rng_state(), []
            for network in networks:
                torch.set_rng_state(dropout)
                losses.append(network.backward(tokens, targets, iteration))
            rows: list[dict[str, float | str]] = []
            for pair in pairs:
                pair.count(iteration)
                if iteration < 100 or iteration % 10 == 0 or last:
                    rows.append({"iteration": iteration, "change": pair.other.name, "beside": pair.one.name})
                    rows[-1] |= {"gradient_distance": pair.gradient_distance(), **pair.row()}
            for network in networks:
                if network.optimizer is not None:
                    network.optimizer.step()
            if on_progress is not None:
                on_progress(iteration + 1, losses[0])
            if rows and (last or (iteration and iteration % evaluate_every == 0)):
                for row, more in zip(rows, compared(networks, pairs, windows, iteration), strict=True):
                    row.update(more)
            for pair, row in zip(pairs, rows, strict=False):
                away = distance(pair.one.net.parameters(), pair.other.net.parameters())
                yield row | {"weight_distance": away}
                if pair.other.design.rescaled and iteration % RESCALED_EVERY == 0 and away:
                    rescale(pair.one, pair.other, RESCALED_TO / away)
