"""Contracts of a user's own parts, `actlab check-plugin`: reach, causality, gradient, count and identity, as the
built-in parts are tested.

Models are tiny, with matrices 20 times as large as at the start of training, so that no function looks linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab import metrics
from actlab.activations import ACTIVATIONS, Activation
from actlab.data.text import corpus_of
from actlab.models import MODELS, SCALES, LanguageModel, ModelConfig, count_parameters
from actlab.study import parts, plugins
from actlab.study.arms import arms_of
from actlab.study.params import Params
from actlab.study.parts import PARTS, Part
from actlab.trainers.streams import generator, init_streams

TINY = ModelConfig(vocab_size=11, n_layer=2, n_embd=12, n_head=2, block_size=8, dropout=0.0)
COUNTED = "lite"
"""The scale at which parameters are counted; gated arms must match plain ones within 1%."""
UNSEEN = ("key.bias",)
"""Parameters without an effect: a key's bias adds one number to all scores of a query, which softmax cancels."""


@dataclass(frozen=True)
class Outcome:
    """One contract of one part."""

    part: str
    contract: str
    holds: bool
    found: str


class Probe(nn.Module):
    """An activation that counts its calls, and whose output can be moved by a constant."""

    def __init__(self, inner: nn.Module, calls: list[Tensor], shift: float) -> None:
        super().__init__()
        self.inner, self.calls, self.shift = inner, calls, shift

    def forward(self, x: Tensor) -> Tensor:  # noqa: D102
        self.calls.append(x)
        return self.inner(x) + self.shift


def check(file: str) -> Iterator[Outcome]:
    """The outcomes of every contract of every part that a plug-in file registers.

    Raises:
        BadInput: the file cannot be loaded.
    """
    plugins.load([file])
    place = Path(file).expanduser().resolve()
    mine = [part for part in PARTS.values() if part.file and part.file.place == place]
    for part in mine:
        for contract, test in _contracts(part):
            try:
                wrong, found = test()
            except Exception as error:
                wrong, found = [f"{type(error).__name__}: {error}"], ""
            yield Outcome(f"{part.kind} {part.name}", contract, not wrong, _shortly(wrong) or found)


def _shortly(wrong: list[str]) -> str:
    return "; ".join(wrong[:2]) + (f"; and {len(wrong) - 2} more" if len(wrong) > 2 else "")


Test = Callable[[], tuple[list[str], str]]
"""(what is wrong, what was found)."""


def _contracts(part: Part) -> Iterator[tuple[str, Test]]:
    """An activation is tried in every built-in model, a model with a plain and a gated activation: a fault has one
    source."""
    if part.kind in ("activation", "model"):
        names = [part.name] if part.kind == "activation" else ["relu", "swiglu"]
        models = list(MODELS.built_in) if part.kind == "activation" else [part.name]
        cells = [(model, name) for model in models for name in names]
        yield "reach", lambda: reach(cells)
        yield "causality", lambda: causality(cells)
        yield "gradient", lambda: slopes(part.name) if part.kind == "activation" else gradients(cells)
        yield "count", lambda: counts(models, part.name if part.kind == "activation" else "swiglu")
    if part.kind == "metric":
        yield "metric", lambda: metric(part.name)
    if part.kind == "dataset":
        yield "text", lambda: text(part)
    else:
        yield "identity", lambda: identity(part)


def build(model: str, activation: Activation, config: ModelConfig = TINY) -> LanguageModel:
    """A model far from its near-linear start."""
    net = MODELS[model].factory(config, activation, "matched")
    net.initialise(init_streams(42))
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.dim() > 1:
                parameter.mul_(20)
    return net.eval()


def probed(name: str, calls: list[Tensor], shift: float = 0.0) -> Activation:
    """The named activation with a ``Probe`` around each of its modules."""
    row = ACTIVATIONS[name]
    return replace(row, factory=lambda **given: Probe(row.factory(**given), calls, shift))


def tokens(batch: int = 2) -> Tensor:
    """Random inputs (B, T)."""
    return torch.randint(TINY.vocab_size, (batch, TINY.block_size), generator=generator(1, "tokens"))


def reach(cells: list[tuple[str, str]]) -> tuple[list[str], str]:
    """Each model calls the activation, and another output of it makes other logits."""
    wrong, called = [], []
    for model, name in cells:
        calls: list[Tensor] = []
        with torch.inference_mode():
            before = build(model, probed(name, calls))(tokens())
            called.append(len(calls))
            after = build(model, probed(name, calls, shift=0.5))(tokens())
        if not called[-1]:
            wrong.append(f"{model} never calls {name}")
        elif torch.equal(before, after):
            wrong.append(f"{model} calls {name}, but its logits do not depend on it")
    times = "once" if max(called) == 1 else f"{min(called)} to {max(called)} times"
    return wrong, f"called {times} in {len(called)} networks, whose logits follow it"


def causality(cells: list[tuple[str, str]]) -> tuple[list[str], str]:
    """Other tokens from t + 1 on leave the logits up to t equal bit for bit, for every t."""
    wrong, given = [], tokens()
    for model, name in cells:
        net = build(model, ACTIVATIONS[name])
        with torch.inference_mode():
            before = net(given)
            for t in range(given.shape[1] - 1):
                other = given.clone()
                other[:, t + 1 :] = (other[:, t + 1 :] + 1) % TINY.vocab_size
                if not torch.equal(before[:, : t + 1], net(other)[:, : t + 1]):
                    wrong.append(f"{model} with {name}: position {t} or before sees position {t + 1} or later")
                    break
    return wrong, "no logit depends on a later token"


def slopes(name: str) -> tuple[list[str], str]:
    """The derivative is finite from -50 to 50, and that of finite differences between -3 and 3."""
    row = ACTIVATIONS[name]
    module, width = row.make(features=4).double(), 8 if row.gated else 4
    wide = torch.linspace(-50, 50, 64 * width, dtype=torch.float64).view(-1, width).requires_grad_(True)
    module(wide).sum().backward()
    wrong = (
        []
        if wide.grad is not None and torch.isfinite(wide.grad).all()
        else ["the derivative is not finite between -50 and 50"]
    )
    near = (6 * torch.rand(16, width, dtype=torch.float64, generator=generator(1, "points")) - 3).requires_grad_(True)
    if not torch.autograd.gradcheck(module, near, raise_exception=False):
        wrong.append(
            "the derivative differs from finite differences (a straight-through estimator, or a wrong backward)"
        )
    return wrong, "finite from -50 to 50, and equal to finite differences between -3 and 3"


def gradients(cells: list[tuple[str, str]]) -> tuple[list[str], str]:
    """In training, every parameter of the model receives a finite gradient that is not 0."""
    wrong = []
    for model, name in cells:
        net = MODELS[model].factory(TINY, ACTIVATIONS[name], "matched")
        net.initialise(init_streams(42))
        given = tokens(8)
        F.cross_entropy(net(given).flatten(0, 1), given.roll(-1, 1).flatten()).backward()  # type: ignore[no-untyped-call]
        for key, parameter in net.named_parameters():
            useful = parameter.grad is not None and torch.isfinite(parameter.grad).all() and parameter.grad.any()
            if not useful and not key.endswith(UNSEEN):
                wrong.append(f"{model} with {name}: {key} learns nothing")
    return wrong, "every parameter receives a finite gradient"


def counts(models: list[str], name: str) -> tuple[list[str], str]:
    """A plain activation adds no parameters but its own; a gated one keeps the plain arm's count within 1%."""
    row, config, wrong, worst = ACTIVATIONS[name], SCALES[COUNTED], [], 0.0
    for model in models:
        plain = count_parameters(MODELS[model].factory(config, ACTIVATIONS["relu"], "matched"))
        calls: list[Tensor] = []
        net = MODELS[model].factory(config, probed(name, calls), "matched")
        learned = sum(count_parameters(module) for module in net.modules() if isinstance(module, Probe))
        share = (count_parameters(net) - learned) / plain - 1
        worst = max(worst, share, -share)
        if abs(share) > (0.01 if row.gated else 0):
            wrong.append(f"{model}: {100 * share:+.2f}% parameters against relu at scale {COUNTED}")
    return wrong, f"within {100 * worst:.2f}% of relu's count" + (" (gated)" if row.gated else "")


def metric(name: str) -> tuple[list[str], str]:
    """Finite, 0 for equal predictions, the same in both directions, larger where one side's inputs are shuffled."""
    draw = generator(1, "metric")
    p, noise = (torch.softmax(3 * torch.randn(200, 11, generator=draw), dim=1) for _ in range(2))
    q, rows = 0.9 * p + 0.1 * noise, metrics.ROWS[name]
    equal, apart, back, shuffled = (
        rows(*pair).double().mean().item() for pair in ((p, p), (p, q), (q, p), (p, q.roll(1, 0)))
    )
    found = f"equal {equal:.3g}, near {apart:.3g}, reversed {back:.3g}, shuffled {shuffled:.3g}"
    checks = {
        "not finite": not torch.isfinite(rows(p, q)).all(),
        "not 0 for equal predictions": abs(equal) > 1e-6,
        "not the same in both directions": abs(apart - back) > 1e-6 * max(1.0, abs(apart)),
        "not larger where inputs are shuffled": not shuffled > apart,
    }
    return [f"{word} ({found})" for word, broken in checks.items() if broken], found


def text(part: Part) -> tuple[list[str], str]:
    """A text that can be split, and comes out the same a second time."""
    first, second = part.thing(), part.thing()
    return ["two calls give two texts"] if first != second else [], corpus_of(part.name, first).in_words


def identity(part: Part) -> tuple[list[str], str]:
    """The same source gives the same id, a changed one another; two modules of one activation are the same function."""

    def known() -> str:
        if part.kind == "metric":
            return parts.hash_of("metric", part.name)
        settings: dict[str, Any] = {"activations" if part.kind == "activation" else part.kind: (part.name,)}
        return arms_of(Params(noise_floor=False, **settings))[0].id

    assert part.file is not None
    wrong, first = [], known()
    try:
        plugins.execute(replace(part.file, text=part.file.text + "\n# changed\n"))
        changed = known()
    finally:
        plugins.execute(part.file)
    if known() != first:
        wrong.append("the same source gives another id")
    if changed == first and part.kind != "metric":
        wrong.append("a changed source gives the same id")
    if part.kind == "activation" and not _same_twice(ACTIVATIONS[part.name]):
        wrong.append("two modules of it give two results: what is random in it needs initialise(generator)")
    return wrong, first[:40]


def _same_twice(row: Activation) -> bool:
    x = torch.linspace(-3, 3, 16).view(2, 8)
    made = [row.make(features=4 if row.gated else 8) for _ in range(2)]
    for module in made:
        for inner in module.modules():
            if (start := getattr(inner, "initialise", None)) is not None:
                start(generator(1, "start"))
    with torch.no_grad():
        return torch.equal(made[0](x), made[1](x))
