"""Contracts of a user's own parts, `actlab check-plugin`: reach, causality, state, gradient, count, identity, as the
built-in parts are tested.

Models are tiny, with matrices 20 times as large as at the start of training, so that no function looks linear.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab import metrics, paths
from actlab.activations import ACTIVATIONS, Activation
from actlab.data.text import corpus_of
from actlab.errors import BadInput
from actlab.models import MODELS, SCALES, LanguageModel, ModelConfig, count_parameters
from actlab.optimizers import build_optimizer
from actlab.optimizers.steps import step
from actlab.plugins import PARTS, TABLES, Part, load_plugins, parts_in
from actlab.plugins.guard import guarded
from actlab.plugins.register import Bowl
from actlab.trainers.seeds import generator, init_streams

TINY = ModelConfig(vocab_size=11, n_layer=2, n_embd=12, n_head=2, block_size=8, dropout=0.0)
COUNTED = "lite"
"""The scale at which parameters are counted; gated arms must match plain ones within 1%."""
UNSEEN = "key.bias"
"""The end of names of parameters without an effect: it adds one number to all scores of a query, which softmax
cancels."""


@dataclass(frozen=True)
class ContractResult:
    """One contract of one part."""

    part: str
    contract: str
    holds: bool
    found: str


def check(file: str) -> Iterator[ContractResult]:
    """The outcomes of every contract of every part that a plug-in file registers.

    Raises:
        BadInput: the file cannot be loaded.
    """
    load_plugins([file])
    for part in parts_in(paths.located(file)):
        for name, test in CONTRACTS[part.kind].items():
            faults = []
            try:
                with guarded("it"):
                    for case in _cases(part, test):
                        if fault := test(*case):
                            faults.append(f"{' with '.join(case)}: {fault}")
            except BadInput as error:
                faults = [str(error)]
            yield ContractResult(f"{part.kind} {part.name}", name, not faults, "; ".join(faults) or f"{test.__doc__}")


def check_causal(cells: Iterable[tuple[str, str]]) -> None:
    """``BadInput`` where one of these models with its activation, of which one is a user's own, sees what it has to
    predict, or keeps more than its weights. What does not work at the size of the contract may do so at another, and
    passes."""
    for model, name in sorted(set(cells)):
        if ("model", model) not in PARTS and ("activation", name) not in PARTS:
            continue
        for test, why in ((state, "predict otherwise than it trained"), (causality, "be given what it has to predict")):
            fault = ""
            with suppress(BadInput), guarded("it"):
                fault = test(model, name)
            if fault:
                raise BadInput(f"{model} with {name}: {fault}: it would {why}; `actlab check-plugin` tries every part")


def _cases(part: Part, test: Callable[..., str]) -> list[Any]:
    """What a contract is tried on: the part, or cells of models and activations, of which the part is one. An
    activation is tried in every built-in model, a model with a plain and a gated activation: a fault has one source."""
    if test not in OF_CELLS.values():
        return [(part.name,)]
    if part.kind == "model":
        return [(part.name, activation) for activation in ("relu", "swiglu")]
    return [(model, part.name) for model in MODELS.built_in]


# Of a model with an activation.


def build(model: str, activation: Activation, factor: float = 20.0) -> LanguageModel:
    """A tiny model, its matrices times ``factor``."""
    net = MODELS[model].factory(TINY, activation, "matched")
    net.initialise(init_streams(42))
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.dim() > 1:
                parameter.mul_(factor)
    return net.eval()


def tokens(batch: int = 2) -> Tensor:
    """Random inputs (B, T)."""
    return torch.randint(TINY.vocab_size, (batch, TINY.block_size), generator=generator(1, "tokens"))


def stays(net: LanguageModel, given: Tensor, places: Tensor) -> bool:
    """Whether the logits at some places of the inputs (B, T) are the same when every other token changes."""
    places = places.expand_as(given)
    changed = torch.where(places, given, (given + 1) % TINY.vocab_size)
    return torch.equal(net(given)[places], net(changed)[places])


@torch.inference_mode()
def reach(model: str, name: str) -> str:
    """it is called, and the logits follow its output"""
    row = ACTIVATIONS[name]

    def shifted(**given: Any) -> nn.Module:
        module = row.factory(**given)
        module.register_forward_hook(lambda _, inputs, output: output + 0.5)
        return module

    before, after = (build(model, each)(tokens()) for each in (row, replace(row, factory=shifted)))
    return "the logits do not depend on its activation" if torch.equal(before, after) else ""


@torch.inference_mode()
def causality(model: str, name: str) -> str:
    """no logit depends on a later token"""
    net = build(model, ACTIVATIONS[name])
    for t in range(TINY.block_size - 1):
        if not stays(net, tokens(), torch.arange(TINY.block_size) <= t):
            return f"position {t} or before sees position {t + 1} or later"
    return ""


@torch.inference_mode()
def batch(model: str, name: str) -> str:
    """no sequence depends on its neighbours in the batch"""
    net, first = build(model, ACTIVATIONS[name]).train(), torch.tensor([[True], [False], [False]])
    return "" if stays(net, tokens(3), first) else "a sequence sees the others of its batch"


@torch.no_grad()
def state(model: str, name: str) -> str:
    """its weights are all that it keeps: a new one with them gives the same logits"""
    net, other = build(model, ACTIVATIONS[name]), build(model, ACTIVATIONS[name])
    net.train()(tokens())
    try:
        other.load_state_dict(net.state_dict())
    except RuntimeError as error:
        return f"a new one does not take its weights: {' '.join(str(error).split())}"
    if not torch.equal(net.eval()(tokens()), other.eval()(tokens())):
        return "a new one with its weights gives other logits"
    return "" if torch.equal(net(tokens()), net(tokens())) else "the same tokens give other logits each time"


def gradients(model: str, name: str) -> str:
    """every parameter receives a finite gradient"""
    net, given = build(model, ACTIVATIONS[name], factor=1).train(), tokens(8)
    loss = F.cross_entropy(net(given).flatten(0, 1), given.roll(-1, 1).flatten())
    loss.backward()  # type: ignore[no-untyped-call]
    found = {key: parameter.grad for key, parameter in net.named_parameters() if not key.endswith(UNSEEN)}
    idle = [key for key, slope in found.items() if slope is None or not slope.isfinite().all() or not slope.any()]
    return f"{', '.join(idle)} learns nothing" if idle else ""


def counts(model: str, name: str) -> str:
    """relu's parameter count, within 1% where gated"""
    row, made = ACTIVATIONS[name], list[nn.Module]()

    def noted(**given: Any) -> nn.Module:
        made.append(row.factory(**given))
        return made[-1]

    rows = ACTIVATIONS["relu"], replace(row, factory=noted)
    plain, own = (count_parameters(MODELS[model].factory(SCALES[COUNTED], each, "matched")) for each in rows)
    share = (own - sum(map(count_parameters, made))) / plain - 1
    fits = abs(share) <= (0.01 if row.gated else 0)
    return "" if fits else f"{100 * share:+.2f}% parameters against relu at scale {COUNTED}"


@torch.inference_mode()
def identity(model: str, name: str) -> str:
    """one seed gives one network"""
    one, two = (build(model, ACTIVATIONS[name])(tokens()) for _ in range(2))
    return "" if torch.equal(one, two) else "two give two results: what is random in it needs initialise(generator)"


# Of an activation, a metric, a text alone.


def slopes(name: str) -> str:
    """finite from -50 to 50, and equal to finite differences between -3 and 3"""
    row = ACTIVATIONS[name]
    module, width = row.make(features=4).double(), 8 if row.gated else 4
    wide = torch.linspace(-50, 50, 64 * width, dtype=torch.float64).view(-1, width).requires_grad_(True)
    (slope,) = torch.autograd.grad(module(wide).sum(), wide)
    if not (slope.isfinite().all() and slope.any()):
        return "the derivative is not finite, or 0 everywhere, between -50 and 50"
    near = (6 * torch.rand(16, width, dtype=torch.float64, generator=generator(1, "points")) - 3).requires_grad_(True)
    if torch.autograd.gradcheck(module, near, raise_exception=False):
        return ""
    return "the derivative differs from finite differences (a straight-through estimator, or a wrong backward)"


def metric(name: str) -> str:
    """0 for equal predictions, symmetric, larger for shuffled inputs"""
    draw = generator(1, "metric")
    p, noise = (torch.softmax(3 * torch.randn(200, 11, generator=draw), dim=1) for _ in range(2))
    q = 0.9 * p + 0.1 * noise
    pairs = ((p, p), (p, q), (q, p), (p, q.roll(1, 0)))
    equal, apart, back, shuffled = (metrics.ROWS[name](*pair).double().mean().item() for pair in pairs)
    if abs(equal) > 1e-6:
        return f"{equal:.3g} for equal predictions"
    if abs(apart - back) > 1e-6 * max(1.0, abs(apart)):
        return f"{apart:.6g} in one direction and {back:.6g} in the other"
    return "" if shuffled > apart else f"{apart:.3g}, and no more where inputs are shuffled: {shuffled:.3g}"


def text(name: str) -> str:
    """can be split, and comes out the same twice"""
    made = TABLES["dataset"][name].__wrapped__  # without its memory
    one, two = (corpus_of(name, made()).sha256 for _ in range(2))
    return "" if one == two else "two calls give two texts"


# Of an optimizer.


def trained(
    name: str, steps: int, noise: float = 0.0, resumed_at: int = -1, **settings: float
) -> tuple[list[float], Tensor]:
    """(the losses of some steps in a bowl, the weights after them); its state may go through a checkpoint."""
    bowl = Bowl(noise)
    optimizer = build_optimizer(name, bowl.parameters(), generator(1, "optimizer"), **settings)
    losses = []
    for number in range(steps):
        if number == resumed_at:
            state = optimizer.state_dict()
            optimizer = build_optimizer(name, bowl.parameters(), generator(1, "optimizer"), **settings)
            optimizer.load_state_dict(state)
        losses.append(float(step(optimizer, bowl)))
    return losses, bowl.position().detach()


def descent(name: str) -> str:
    """50 steps at its usual rate lower the loss of a bowl"""
    losses, _ = trained(name, 50)
    return "" if losses[-1] < losses[0] else f"the loss goes from {losses[0]:.4g} to {losses[-1]:.4g}"


def rate(name: str) -> str:
    """it reads the rate from its groups: at rate 0 nothing moves"""
    moved = trained(name, 3, lr=0.0)[1].ne(1).any()
    return "weights move at rate 0: a schedule has no effect on it" if moved else ""


def resume(name: str) -> str:
    """stopped and resumed it ends in the same bits"""
    same = trained(name, 6, noise=3.0)[1].equal(trained(name, 6, noise=3.0, resumed_at=3)[1])
    return "" if same else "resumed after three of six steps it ends elsewhere: what it keeps is not in state_dict()"


def repeats(name: str) -> str:
    """one seed gives one training, whatever else draws random numbers"""
    one = trained(name, 6, noise=3.0)[1]
    torch.rand(1)
    same = one.equal(trained(name, 6, noise=3.0)[1])
    return "" if same else "two trainings end in two places: what is random in it must come from `generator`"


OF_CELLS = {
    "reach": reach,
    "causality": causality,
    "batch": batch,
    "state": state,
    "gradient": gradients,
    "count": counts,
    "identity": identity,
}
CONTRACTS: dict[str, dict[str, Callable[..., str]]] = {
    "activation": OF_CELLS | {"gradient": slopes},
    "model": OF_CELLS,
    "metric": {"metric": metric},
    "dataset": {"text": text},
    "optimizer": {"descent": descent, "rate": rate, "resume": resume, "identity": repeats},
}
"""Kind of part -> its contracts. A test's docstring is what it promises; it returns what is wrong, if anything."""
