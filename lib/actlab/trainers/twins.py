"""Networks trained in lockstep: a leader, and followers that see the same batches. Most start as the leader but for a
tiny first change; some use the slopes of another network in place of their own: under ReLU, its sides of the corner.

A follower that copies puts f(a) + f'(a)(b - a) for f(b), with a the input of the other network at that place. Under
ReLU this is b where a > 0 and 0 elsewhere: the other's 0/1 mask, forward and backward. Under a smooth f it is the
tangent, so what bends between a and b is taken away.

Or a follower is ``rescaled``: every ten steps it is put back on its line to the leader, at the distance at which it
began. How fast it leaves again is the largest Lyapunov exponent of training (Benettin et al. 1980).
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.optim import Optimizer

from actlab.activations import slope
from actlab.errors import BadInput
from actlab.trainers.determinism import perturb, reproducible
from actlab.trainers.seeds import derive
from actlab.trainers.windows import Windows

RESCALED = "rescaled"
"""The follower that is put back to ``RESCALED_TO`` after the first step and after every ``RESCALED_EVERY``-th from
there: its ``weight_distance`` just before, over ``RESCALED_TO``, is the growth over these steps."""
RESCALED_EVERY = 10
RESCALED_TO = 1e-8
"""L2 distance of all weights: what one bit of one weight is in float32. In float64 rounding adds a millionth of it."""
LEADER, UNTRAINED = "", "untrained"
NEAR = 0.03
"""An input is near the corner where it is below this share of the root mean square of its layer's inputs."""


@dataclass(frozen=True)
class Design:
    """How a follower starts, whose slopes it uses, and with which networks it is compared."""

    change: str = "bit"
    """Of one weight at the start: ``bit`` of float32, ``second bit`` (of the next weight), ``ulp`` of its own type, a
    size such as ``1e-9``; empty: none."""
    source: str | None = None
    """The network whose slopes it uses; ``None``: its own."""
    near: bool | None = None
    """It copies only where the source's input is near the corner (True), or only elsewhere (False)."""
    other_seed: bool = False
    """Whether it starts from the weights of another seed."""
    beside: tuple[str, ...] = (LEADER,)
    """The networks that it is compared with."""
    start: int = 0
    """The step from which it copies."""
    stop: float = math.inf
    """The step before which it does."""

    def copies(self, iteration: int) -> bool:
        """Say whether it uses the slopes of its source at a step (from 0)."""
        return self.source is not None and self.start <= iteration < self.stop


DESIGNS: Mapping[str, Design] = {
    RESCALED: Design(),
    "near": Design(source=LEADER, near=True),
    "elsewhere": Design(source=LEADER, near=False),
    "third": Design("second bit", source="own", beside=(LEADER, "own")),
    UNTRAINED: Design("", beside=()),
    "frozen": Design("", source=UNTRAINED),
    "frozen-bit": Design(source=UNTRAINED, beside=("frozen",)),
    "other": Design("", other_seed=True),
    "driven": Design("", source="other"),
    "driven-bit": Design(source="other", beside=("driven",)),
    "other-copied": Design("", source=LEADER, other_seed=True),
}
"""The followers with a name of their own. ``untrained`` stays as it was initialised, and lends its masks."""
FOLLOWER = rf"(own|copied)(-([1-9]\d{{0,5}}|ulp|1e-\d{{1,2}}))?|flip-[1-9]\d{{0,5}}|{'|'.join(DESIGNS)}"


def design(name: str) -> Design:
    """Find the design of a follower; ``BadInput`` lists how one may be called.

    ``own``, ``copied``: one bit away, with its own slopes or the leader's; ``own-50``, ``copied-50``: until that step
    only; ``own-1e-9``, ``own-ulp``: with that first change; ``flip-50``: the leader, but for one gate in that step; or
    a name of ``DESIGNS``.
    """
    if re.fullmatch(FOLLOWER, name) is None:
        known = ["own", "copied", "own-STEPS", "copied-STEPS", "own-1e-9", "copied-ulp", "flip-STEP", *DESIGNS]
        raise BadInput(f"a follower is called {', '.join(known)}, not {name!r}")
    mode, _, rest = name.partition("-")
    if name in DESIGNS or mode == "flip":
        return DESIGNS.get(name, Design(""))
    if not rest.isdigit():
        return Design(rest or "bit", LEADER if mode == "copied" else None)
    start, stop = (int(rest), math.inf) if mode == "own" else (0, int(rest))
    return Design(source=LEADER, start=start, stop=stop)


def with_sources(names: Sequence[str]) -> list[str]:
    """List these followers, and before each the networks whose slopes it uses or that it is compared with."""
    found: dict[str, None] = {}
    for name in names:
        made = design(name)
        others = [each for each in (made.source, *made.beside) if each]
        found |= dict.fromkeys([*with_sources(others), name])
    return list(found)


def begin(net: nn.Module, change: str, dtype: torch.dtype) -> nn.Module:
    """Make the first change of its design in a fresh network in float32, and bring it to the type in which it
    trains."""
    if "bit" in change:
        perturb(net, place=1 if "second" in change else 0)
    net.to(dtype)
    if change == "ulp":
        perturb(net)
    elif change and "bit" not in change:
        with torch.no_grad():
            [weight for weight in net.parameters() if weight.dim() > 1][-1].view(-1)[0] += float(change)
    return net


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


@dataclass
class Network:
    """A network in lockstep, with what enters its activations in a forward pass, in their order."""

    name: str
    net: nn.Module
    source: "Network | None" = None
    """The network whose slopes it uses while it is ``copying``."""
    coupled: bool = False
    """Whether inputs are noted and copied slopes are used; otherwise it is an ordinary network."""
    copying: bool = False
    flips: bool = False
    """Whether the gate of its first activation whose input is nearest to 0 is flipped."""
    inputs: list[Tensor] = field(default_factory=list)

    def __post_init__(self) -> None:
        for module in self.net.modules():
            if isinstance(activation := getattr(module, "act", None), nn.Module):
                activation.register_forward_hook(self.after)

    def ready(self, coupled: bool) -> None:
        """Forget what was noted, before a forward pass."""
        self.coupled = coupled
        self.inputs.clear()

    def after(self, activation: nn.Module, given: tuple[Tensor], out: Tensor) -> Tensor | None:
        """Return what an activation gives in place of ``out``; ``None``: that."""
        if not self.coupled:
            return None
        b, place = given[0], len(self.inputs)
        self.inputs.append(b.detach())
        if self.flips and place == 0:
            nearest = torch.zeros_like(b, dtype=torch.bool)
            nearest.view(-1)[b.detach().abs().argmin()] = True
            return torch.where(nearest, b - out, out)  # of relu: b where it gave 0, and 0 where it gave b
        if not self.copying or self.source is None:
            return None
        a = self.source.inputs[place]
        with torch.enable_grad():
            slope_at_a = slope(activation.forward, a)
        tangent = activation.forward(a) + slope_at_a * (b - a)
        near = design(self.name).near
        return tangent if near is None else torch.where((a.abs() < reach(a)) == near, tangent, out)


def reach(a: Tensor) -> Tensor:
    """Return the largest input of a layer that is near the corner."""
    return NEAR * a.square().mean().sqrt()


@dataclass
class Crossings:
    """Inputs that have another sign in one network than in another: how many, and how many are expected from how
    densely the first one's inputs lie at 0 and how far those of the two are apart there."""

    first: int | None = None
    """The step of the first one."""
    counted: int = 0
    expected: float = 0.0
    """Both since the last measured step."""
    now: dict[str, float] = field(default_factory=dict)
    """The other columns of the last step."""

    def add(self, iteration: int, one: Network, other: Network) -> None:
        """Count those of a step."""
        total = sum(a.numel() for a in one.inputs)
        count, density, expected = 0, 0.0, 0.0
        for a, b in zip(one.inputs, other.inputs, strict=True):
            width = 2 * reach(a).item()
            near = a.abs() < reach(a)
            count += int(((a > 0) != (b > 0)).sum())
            density += int(near.sum()) / width
            expected += (b[near] - a[near]).abs().sum().item() / width
        if count and self.first is None:
            self.first = iteration
        self.counted += count
        self.expected += expected
        distance = expected / density if density else math.nan
        self.now = {"sides_apart": count / total, "inputs": total}
        self.now |= {"corner_density": density / total, "corner_distance": distance}

    def row(self) -> dict[str, float]:
        """Return the columns of a measured step; the counts begin anew."""
        row = {**self.now, "crossings": self.counted, "expected_crossings": self.expected}
        self.counted, self.expected = 0, 0.0
        return row | ({} if self.first is None else {"first_crossing": self.first})


@torch.no_grad()
def distance(tensors: Iterable[Tensor], others: Iterable[Tensor]) -> float:
    """Return the L2 norm of the difference of two lists of tensors."""
    return norm(a - b for a, b in zip(tensors, others, strict=True))


def norm(tensors: Iterable[Tensor]) -> float:
    """Return the L2 norm of several tensors together, in double precision."""
    return math.sqrt(sum(a.double().square().sum().item() for a in tensors))


def gradients_of(network: Network) -> list[Tensor]:
    """List the gradients of a network's weights."""
    return [weight.grad for weight in network.net.parameters() if weight.grad is not None]


@torch.no_grad()
def compared(nets: Mapping[str, Network], pairs: Sequence[tuple[str, str]], windows: Windows) -> list[dict[str, float]]:
    """Measure the total variation of each pair, as ordinary networks and with the slopes with which they train
    (``_as_trained``), and the second's loss with these."""
    found: list[dict[str, float]] = [defaultdict(float) for _ in pairs]
    positions = windows.inputs.numel()
    for network in nets.values():
        network.net.eval()
    for ending in ("", "_as_trained"):
        for inputs, targets in zip(torch.split(windows.inputs, 32), torch.split(windows.targets, 32), strict=True):
            logits = {}
            for name, network in nets.items():
                network.ready(bool(ending))
                logits[name] = network.net(inputs).double()
            for row, (one, other) in zip(found, pairs, strict=True):
                apart = (logits[one].softmax(-1) - logits[other].softmax(-1)).abs().sum().item() / 2
                row[f"total_variation{ending}"] += apart / positions
                if ending:
                    loss = F.cross_entropy(logits[other].flatten(0, 1), targets.flatten(), reduction="sum").item()
                    row[f"val_loss{ending}"] += loss / positions
    for network in nets.values():
        network.net.train()
    return found


def train_together(
    leader: nn.Module,
    followers: Mapping[str, nn.Module],
    batch: Callable[[int], tuple[Tensor, Tensor]],
    iterations: int,
    optimizer: Callable[[nn.Module], Optimizer],
    seed: int,
    on_progress: Callable[[int, float], None] | None = None,
    windows: Windows | None = None,
    evaluate_every: int = 0,
) -> Iterator[dict[str, float | str]]:
    """Train a leader and its followers in lockstep: the same batches and the same dropout masks at every step.

    Args:
        leader, followers: after their first changes, on the CPU; the followers by their names (``design``), a source
            before those who copy it. Changed in place.
        batch: (inputs, targets) of a step (from 0), both (B, T) int64.
        iterations: steps.
        optimizer: a fresh one of a network.
        seed: makes the stream ``dropout``, as in ``loop``.
        on_progress: called with (iteration, the leader's loss) after each step.
        windows: on which predictions are compared, every ``evaluate_every`` steps and at the last.

    Yields:
        A row a measured step (each of the first 100, then every tenth, and the last), follower and network beside it:
        ``iteration`` (steps before it), ``change`` (the follower), ``beside`` (the other), ``sides_apart`` (share of
        activation inputs whose sign differs),
        ``crossings`` and ``expected_crossings`` since the last row, ``first_crossing``, ``inputs``, ``corner_density``
        (inputs at 0, for each input and unit) and ``corner_distance`` (mean difference of the inputs near the corner:
        the product of the three is what is expected of this step), ``gradient_distance`` (norm of the difference over
        the other's norm), ``weight_distance`` (after the step, L2) and, where it is compared, ``compared``.
    """
    nets = {name: Network(name, net.train()) for name, net in {LEADER: leader, **followers}.items()}
    pairs = [(beside, name) for name in followers for beside in design(name).beside]
    for name in followers:
        if (source := design(name).source) is not None:
            nets[name].source = nets[source]
    optimizers = {name: optimizer(network.net) for name, network in nets.items() if name != UNTRAINED}
    crossings = {pair: Crossings() for pair in pairs}
    every = evaluate_every or iterations
    evaluated = {*range(every, iterations, every), iterations - 1}
    with reproducible(derive(seed, "dropout")):
        for iteration in range(iterations):
            inputs, targets = batch(iteration)
            dropout = torch.get_rng_state()
            losses = {}
            for name, network in nets.items():
                network.ready(coupled=True)
                network.copying = name != LEADER and design(name).copies(iteration)
                network.flips = name == f"flip-{iteration}"
                torch.set_rng_state(dropout)
                with torch.set_grad_enabled(name in optimizers):
                    losses[name] = F.cross_entropy(network.net(inputs).flatten(0, 1), targets.flatten())
                network.flips = False
                if name in optimizers:
                    optimizers[name].zero_grad(set_to_none=True)
                    losses[name].backward()  # type: ignore[no-untyped-call]
            for one, other in pairs:
                crossings[one, other].add(iteration, nets[one], nets[other])
            measured = iteration < 100 or iteration % 10 == 0 or iteration == iterations - 1
            apart: dict[tuple[str, str], float] = {}
            for one, other in pairs if measured else ():
                gradients = gradients_of(nets[one])
                apart[one, other] = distance(gradients, gradients_of(nets[other])) / norm(gradients)
            for each in optimizers.values():
                each.step()
            if on_progress is not None:
                on_progress(iteration + 1, losses[LEADER].item())
            predictions: list[dict[str, float]] = [{}] * len(pairs)
            if windows is not None and iteration in evaluated:
                predictions = compared(nets, pairs, windows)
            for ((one, other), gradient_distance), more in zip(apart.items(), predictions, strict=False):
                away = distance(nets[other].net.parameters(), nets[one].net.parameters())
                yield {
                    "iteration": iteration,
                    "change": other,
                    "beside": one,
                    "gradient_distance": gradient_distance,
                    "weight_distance": away,
                    **crossings[one, other].row(),
                    **more,
                }
                if other == RESCALED and iteration % RESCALED_EVERY == 0 and away:
                    rescale((leader, nets[other].net), (optimizers[LEADER], optimizers[other]), RESCALED_TO / away)
    for network in nets.values():
        network.coupled = False
