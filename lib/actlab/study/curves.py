"""The activations as curves, for a picture: names become modules here, and modules become arrays. Draws nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from actlab.activations import ACTIVATIONS, Gated, get_activation, slope

Curve = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def curves(
    names: Sequence[str] = tuple(ACTIVATIONS), reach: float = 3.0, points: int = 601, seed: int = 0
) -> dict[str, Curve]:
    """(x, f(x), f'(x)) of each activation on [-reach, reach]; of a gated one as a function of its gate, the value being
    1.

    ``seed`` fixes the one slope that ``random_prelu`` draws.
    """
    x = torch.linspace(-reach, reach, points, dtype=torch.float64)
    return {name: _curve(_of_one_input(name, seed), x) for name in names}


def _of_one_input(name: str, seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        module = get_activation(name).double()
    return module.gate if isinstance(module, Gated) else module


def _curve(module: nn.Module, x: torch.Tensor) -> Curve:
    with torch.no_grad():
        value = module(x)
    return x.numpy(), value.numpy(), slope(module, x).numpy()
