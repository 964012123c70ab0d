"""What pages and live panels compute on the spot: curves of activations, and what flows through them in a network."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.activations import ACTIVATIONS, SmeLU, Swish, get_activation, slope
from actlab.study.characters import CharacterTrial

Array = NDArray[np.float64]
Curve = tuple[Array, Array, Array]
WINDOWS = 256
"""Of the validation text, evenly spread, of which the first are looked at."""
ADJUSTABLE = tuple(name for name in ACTIVATIONS if isinstance(get_activation(name), SmeLU | Swish))
"""Activations with a beta that can be moved."""


def curve(name: str, beta: float | None = None, reach: float = 3.0, seed: int = 0) -> Curve:
    """(x, f(x), f'(x)) of an activation at 601 points of [-reach, reach]; of a gated one as a function of its gate, the
    value being 1.

    ``beta``: as for ``set_beta``; ``seed`` fixes the one slope that ``random_prelu`` draws.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = get_activation(name).double()
    module = set_beta(getattr(module, "gate", module), beta)
    x = torch.linspace(-reach, reach, 601, dtype=torch.float64)
    with torch.no_grad():
        value = module(x)
    return x.numpy(), value.numpy(), slope(module, x).numpy()


def curves(reach: float = 3.0, seed: int = 0) -> dict[str, Curve]:
    """The ``curve`` of every activation."""
    return {name: curve(name, None, reach, seed) for name in ACTIVATIONS}


def set_beta(model: nn.Module, beta: float | None) -> nn.Module:
    """Every SmeLU and Swish in a module gets this beta; ``None`` leaves them as they are."""
    for module in model.modules():
        if beta is not None and isinstance(module, SmeLU | Swish):
            module.beta = beta
    return model


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


def flow(trial: CharacterTrial, beta: float | None = None, windows: int = 8) -> Flow:
    """Pre-activations and their gradients in a trial's fresh model, on validation text; dropout off."""
    frozen, model = trial.compared_on(WINDOWS), trial.fresh()
    set_beta(model, beta).eval()
    seen: list[Tensor] = []

    def keep(module: nn.Module, given: tuple[Tensor]) -> None:
        given[0].retain_grad()
        seen.append(given[0])

    for module in model.modules():
        if type(module) is type(get_activation(trial.activation)):
            module.register_forward_pre_hook(keep)
    logits = model(frozen.inputs[:windows])
    F.cross_entropy(logits.flatten(0, 1), frozen.targets[:windows].flatten()).backward()  # type: ignore[no-untyped-call]
    gated = ACTIVATIONS[trial.activation].gated

    def joined(tensors: Iterable[Tensor]) -> Array:
        return torch.cat([(t.chunk(2, dim=-1)[0] if gated else t).flatten() for t in tensors]).double().numpy()

    return Flow(joined(t.detach() for t in seen), joined(t.grad for t in seen if t.grad is not None))
