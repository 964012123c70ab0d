"""The optimizers of language models: one table, and ``build_optimizer``. ECD and SOAP are ours, the others torch's."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from actlab.errors import Table
from actlab.optimizers.ecd import ECD
from actlab.optimizers.soap import SOAP
from actlab.optimizers.without_compiler import SGD, AdamW

Parameters = Iterable[nn.Parameter] | Iterable[dict[str, Any]]


def sgdm(params: Parameters, generator: torch.Generator, init_velocity_std: float = 0.0, **settings: Any) -> SGD:
    """Make torch's SGD with a random velocity v_0 ~ N(0, ``init_velocity_std``^2) from ``generator``.

    Of the start alone the parameters move by -lr mu^2 / (1 - mu) v_0 in the end with Nesterov momentum: 0.54 v_0 with
    the published settings, sd 0.054 a weight, 2.7 times the 0.02 of the initialisation. A ``generator`` at the same
    place gives every arm the same v_0.
    """
    optimizer = SGD(params, **settings)
    for group in optimizer.param_groups if init_velocity_std else ():
        for p in group["params"]:
            velocity = torch.randn(p.shape, generator=generator, dtype=p.dtype).mul_(init_velocity_std)
            optimizer.state[p]["momentum_buffer"] = velocity.to(p.device)
    return optimizer


@dataclass(frozen=True)
class Optimizer:
    """One row of the table: how to make it, who defined it, and its usual settings: of those of the ablation, as
    published there."""

    name: str
    factory: Callable[..., torch.optim.Optimizer]
    source: str
    defaults: Mapping[str, Any]


def _ecd(params: Parameters, generator: torch.Generator, **settings: Any) -> ECD:
    return ECD(params, seed=int(torch.randint(2**62, (), generator=generator)), **settings)


_ROWS = (
    Optimizer(
        "ecd",
        _ecd,
        "De Luca, Nachman, Silverstein & Zheng 2025, arXiv 2501.18419",
        {"lr": 1.0, "eta": 100.0, "F0": 2.0, "weight_decay": 0.0},
    ),
    Optimizer(
        "adamw",
        lambda params, generator, **settings: AdamW(params, fused=True, **settings),
        "Loshchilov & Hutter 2019, arXiv 1711.05101",
        {"lr": 1e-4, "betas": (0.9, 0.999), "weight_decay": 0.0},
    ),
    Optimizer(
        "sgd",
        sgdm,
        "Sutskever et al. 2013",
        {"lr": 0.02, "momentum": 0.9, "nesterov": True, "weight_decay": 0.0},
    ),
    Optimizer(
        "sgdm",
        sgdm,
        "Sutskever et al. 2013; the random start: Silverstein, Kunin & Shyam 2026, arXiv 2601.22257",
        {"lr": 0.03, "momentum": 0.95, "nesterov": True, "weight_decay": 0.0, "init_velocity_std": 0.1},
    ),
    Optimizer(
        "soap",
        lambda params, generator, **settings: SOAP(params, **settings),
        "Vyas et al. 2024, arXiv 2409.11321",
        {"lr": 3e-4, "betas": (0.95, 0.95), "weight_decay": 0.01, "precondition_frequency": 10},
    ),
)
OPTIMIZERS = Table("optimizer", ((row.name, row) for row in _ROWS))


def build_optimizer(
    name: str, params: Parameters, generator: torch.Generator, **settings: Any
) -> torch.optim.Optimizer:
    """Make a fresh optimizer with its usual settings, changed by ``settings``.

    Args:
        name: a key of ``OPTIMIZERS``.
        params: every parameter of the model, or groups of them.
        generator: the optimizer's own random stream (ECD's turns, the start of sgdm); used now, or read for a seed.
        settings: what departs from the table's ``defaults``.

    Raises:
        UnknownName: the table has no such name.
    """
    entry = OPTIMIZERS[name]
    return entry.factory(params, generator, **{**entry.defaults, **settings})
