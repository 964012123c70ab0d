"""What an activation does inside a network: what flows into it and what flows back, on real text; and what two trials
make of one prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.activations import ACTIVATIONS, SmeLU, Swish, get_activation, slope
from actlab.data.text import Corpus
from actlab.models import LanguageModel
from actlab.study.arms import TrialSpec
from actlab.study.run import fresh_model, windows_of
from actlab.trainers.streams import generator

Array = NDArray[np.float64]
ADJUSTABLE = tuple(name for name in ACTIVATIONS if isinstance(get_activation(name), SmeLU | Swish))
"""Activations with a beta that can be moved."""


@dataclass(frozen=True)
class Flow:
    """What passes through all activations of a network during one forward and one backward pass over W windows."""

    inputs: Array
    """(n,) pre-activations; of a gated activation, its gates."""
    gradients: Array
    """(n,) derivatives of the mean loss with respect to them."""

    @property
    def silent(self) -> float:
        """Share of the pre-activations whose gradient is exactly 0: nothing is learned through them from this text."""
        return float((self.gradients == 0).mean())


def set_beta(model: nn.Module, beta: float | None) -> nn.Module:
    """Every SmeLU and Swish in a module gets this beta; ``None`` leaves them as they are."""
    for module in model.modules():
        if beta is not None and isinstance(module, SmeLU | Swish):
            module.beta = beta
    return model


def function(name: str, beta: float | None = None, reach: float = 3.0, points: int = 601) -> tuple[Array, Array, Array]:
    """(x, f(x), f'(x)) of an activation, of a gated one as a function of its gate; see ``set_beta``."""
    module = get_activation(name)
    module = set_beta(getattr(module, "gate", module).double(), beta)
    x = torch.linspace(-reach, reach, points, dtype=torch.float64)
    with torch.no_grad():
        value = module(x)
    return x.numpy(), value.numpy(), slope(module, x).numpy()


def flow(spec: TrialSpec, model: LanguageModel | None = None, beta: float | None = None, windows: int = 8) -> Flow:
    """Pre-activations and their gradients in a trial's model, fresh unless given, on validation text; dropout off."""
    inputs, targets = (tensor[:windows] for tensor in (windows_of(spec)[2].inputs, windows_of(spec)[2].targets))
    model = model or fresh_model(spec)
    set_beta(model, beta).eval()
    seen: list[Tensor] = []
    kind = type(get_activation(spec.activation))
    hooks = [
        m.register_forward_pre_hook(lambda _, given: _keep(seen, given[0])) for m in model.modules() if type(m) is kind
    ]
    try:
        F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).backward()  # type: ignore[no-untyped-call]
    finally:
        for hook in hooks:
            hook.remove()
        model.zero_grad(set_to_none=True)
    gated = ACTIVATIONS[spec.activation].gated
    return Flow(
        _joined((t.detach() for t in seen), gated), _joined((t.grad for t in seen if t.grad is not None), gated)
    )


def _keep(seen: list[Tensor], x: Tensor) -> None:
    x.retain_grad()
    seen.append(x)


def _joined(tensors: Iterable[Tensor], gated: bool) -> Array:
    return torch.cat([(t.chunk(2, dim=-1)[0] if gated else t).flatten() for t in tensors]).double().numpy()


@torch.no_grad()
def sample(model: LanguageModel, corpus: Corpus, prompt: str, length: int = 200, seed: int = 0) -> str:
    """``length`` characters after ``prompt``. The same seed gives every model the same draws, so that only the models
    make texts differ.

    Each draw is a uniform number, looked up in the model's cumulative distribution over the characters.
    """
    model.eval()
    tokens, block = corpus.encode(prompt), model.config.block_size
    for draw in torch.rand(length, generator=generator(seed, "sample")):
        probabilities = model(tokens[None, -block:])[0, -1].softmax(-1)
        place = int((probabilities.cumsum(-1) < draw).sum())
        tokens = torch.cat([tokens, torch.tensor([min(place, corpus.vocab_size - 1)])])
    return corpus.decode(tokens[-length:])


@torch.no_grad()
def reading(model: LanguageModel, corpus: Corpus, window: Tensor) -> str:
    """The most probable next character at each of the T positions of a window (T,) of real text."""
    return corpus.decode(model.eval()(window[None])[0].argmax(-1))
