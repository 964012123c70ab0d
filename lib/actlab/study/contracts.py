"""Contracts of a user's own parts, `actlab check-plugin`: reach, causality, gradient, count and identity, as the
built-in parts are tested.

Models are tiny, with matrices 20 times as large as at the start of training, so that no function looks linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab import metrics
from actlab.activations import ACTIVATIONS, Activation
from actlab.data.text import corpus_of
from actlab.models import MODELS, SCALES, LanguageModel, ModelConfig, count_parameters
from actlab.study import plugins
from actlab.study.own_parts import Part, parts_in
from actlab.trainers.streams import generator, init_streams

TINY = ModelConfig(vocab_size=11, n_layer=2, n_embd=12, n_head=2, block_size=8, dropout=0.0)
COUNTED = "lite"
"""The scale at which parameters are counted; gated arms must match plain ones within 1%."""
UNSEEN = ("key.bias",)
"""Parameters without an effect: a key's bias adds one number to all scores of a query, which softmax cancels."""
Cells = list[tuple[str, str]]
"""(model, activation)."""
Contract = tuple[str, str, Callable[[], Iterator[str]]]
"""(name, what it promises, the test, which yields what is wrong)."""


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
    plugins.load([file])
    for part in parts_in(Path(file).expanduser().resolve()):
        for name, promise, test in _contracts(part):
            try:
                wrong = list(test())
            except Exception as error:
                wrong = [f"{type(error).__name__}: {error}"]
            more = f"; and {len(wrong) - 2} more" if len(wrong) > 2 else ""
            yield ContractResult(f"{part.kind} {part.name}", name, not wrong, "; ".join(wrong[:2]) + more or promise)


def _contracts(part: Part) -> list[Contract]:
    """An activation is tried in every built-in model, a model with a plain and a gated activation: a fault has one
    source."""
    if part.kind == "metric":
        return [
            ("metric", "0 for equal predictions, symmetric, larger for shuffled inputs", partial(metric, part.name))
        ]
    if part.kind == "dataset":
        return [("text", "can be split, and comes out the same twice", partial(text, part))]
    own = part.kind == "activation"
    cells = [(m, part.name) for m in MODELS.built_in] if own else [(part.name, a) for a in ("relu", "swiglu")]
    gradient: Contract = ("gradient", "every parameter receives a finite gradient", partial(gradients, cells))
    if own:
        promise = "finite from -50 to 50, and equal to finite differences between -3 and 3"
        gradient = ("gradient", promise, partial(slopes, part.name))
    return [
        ("reach", "it is called, and the logits follow its output", partial(reach, cells)),
        ("causality", "no logit depends on a later token", partial(causality, cells)),
        gradient,
        ("count", "relu's parameter count, within 1% where gated", partial(counts, cells)),
        ("identity", "one seed gives one network", partial(identity, cells)),
    ]


def probed(name: str, shift: float = 0.0) -> tuple[Activation, list[nn.Module], list[nn.Module]]:
    """The named activation with its outputs moved by ``shift``; the modules of it that are made, and those called."""
    row, made, called = ACTIVATIONS[name], list[nn.Module](), list[nn.Module]()

    def factory(**given: Any) -> nn.Module:
        def move(module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
            called.append(module)
            return output + shift

        made.append(row.factory(**given))
        made[-1].register_forward_hook(move)
        return made[-1]

    return replace(row, factory=factory), made, called


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


@torch.inference_mode()
def reach(cells: Cells) -> Iterator[str]:
    """Each model calls the activation, and another output of it makes other logits."""
    for model, name in cells:
        (plain, _, called), (moved, *_) = probed(name), probed(name, shift=0.5)
        before, after = (build(model, activation)(tokens()) for activation in (plain, moved))
        if not called:
            yield f"{model} never calls {name}"
        elif torch.equal(before, after):
            yield f"{model} calls {name}, but its logits do not depend on it"


@torch.inference_mode()
def causality(cells: Cells) -> Iterator[str]:
    """Other tokens from t + 1 on leave the logits up to t equal bit for bit, for every t."""
    given = tokens()
    places = torch.arange(given.shape[1])
    for model, name in cells:
        net = build(model, ACTIVATIONS[name])
        before = net(given)
        for t in places[:-1]:
            after = net(torch.where(places > t, (given + 1) % TINY.vocab_size, given))
            if not torch.equal(before[:, : t + 1], after[:, : t + 1]):
                yield f"{model} with {name}: position {t} or before sees position {t + 1} or later"
                break


def slopes(name: str) -> Iterator[str]:
    """The derivative is finite from -50 to 50, and that of finite differences between -3 and 3."""
    row = ACTIVATIONS[name]
    module, width = row.make(features=4).double(), 8 if row.gated else 4
    wide = torch.linspace(-50, 50, 64 * width, dtype=torch.float64).view(-1, width).requires_grad_(True)
    module(wide).sum().backward()
    if wide.grad is None or not torch.isfinite(wide.grad).all():
        yield "the derivative is not finite between -50 and 50"
    near = (6 * torch.rand(16, width, dtype=torch.float64, generator=generator(1, "points")) - 3).requires_grad_(True)
    if not torch.autograd.gradcheck(module, near, raise_exception=False):
        yield "the derivative differs from finite differences (a straight-through estimator, or a wrong backward)"


def gradients(cells: Cells) -> Iterator[str]:
    """In training, every parameter of the model receives a finite gradient that is not 0."""
    for model, name in cells:
        net, given = build(model, ACTIVATIONS[name], factor=1).train(), tokens(8)
        loss = F.cross_entropy(net(given).flatten(0, 1), given.roll(-1, 1).flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        for key, parameter in net.named_parameters():
            useful = parameter.grad is not None and torch.isfinite(parameter.grad).all() and parameter.grad.any()
            if not useful and not key.endswith(UNSEEN):
                yield f"{model} with {name}: {key} learns nothing"


def counts(cells: Cells) -> Iterator[str]:
    """A plain activation adds no parameters but its own; a gated one keeps the plain arm's count within 1%."""
    for model, name in cells:
        relu, activation, made = ACTIVATIONS["relu"], *probed(name)[:2]
        plain, net = (MODELS[model].factory(SCALES[COUNTED], each, "matched") for each in (relu, activation))
        learned = sum(map(count_parameters, made))
        share = (count_parameters(net) - learned) / count_parameters(plain) - 1
        if abs(share) > (0.01 if activation.gated else 0):
            yield f"{model}: {100 * share:+.2f}% parameters against relu at scale {COUNTED}"


@torch.inference_mode()
def identity(cells: Cells) -> Iterator[str]:
    """Two networks of one seed give the same bits."""
    for model, name in cells:
        one, two = (build(model, ACTIVATIONS[name])(tokens()) for _ in range(2))
        if not torch.equal(one, two):
            yield f"two networks of {model} give two results: what is random in it needs initialise(generator)"


def metric(name: str) -> Iterator[str]:
    """Finite, 0 for equal predictions, the same in both directions, larger where one side's inputs are shuffled."""
    draw = generator(1, "metric")
    p, noise = (torch.softmax(3 * torch.randn(200, 11, generator=draw), dim=1) for _ in range(2))
    q, rows = 0.9 * p + 0.1 * noise, metrics.ROWS[name]
    pairs = ((p, p), (p, q), (q, p), (p, q.roll(1, 0)))
    equal, apart, back, shuffled = (rows(*pair).double().mean().item() for pair in pairs)
    wrong = {
        "not finite": not torch.isfinite(rows(p, q)).all(),
        "not 0 for equal predictions": abs(equal) > 1e-6,
        "not the same in both directions": abs(apart - back) > 1e-6 * max(1.0, abs(apart)),
        "not larger where inputs are shuffled": not shuffled > apart,
    }
    found = f"equal {equal:.3g}, near {apart:.3g}, reversed {back:.3g}, shuffled {shuffled:.3g}"
    yield from (f"{word} ({found})" for word, broken in wrong.items() if broken)


def text(part: Part) -> Iterator[str]:
    """A text that can be split, and comes out the same a second time."""
    if corpus_of(part.name, part.thing()).sha256 != corpus_of(part.name, part.thing()).sha256:
        yield "two calls give two texts"
