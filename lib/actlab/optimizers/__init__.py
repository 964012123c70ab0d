"""The optimizers of the ablation: one table of frozen entries, and ``build_optimizer``. ECD and SOAP are ours, AdamW
and SGD are torch's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import torch
from torch import nn

from actlab.errors import BadInput, UnknownName
from actlab.optimizers.ecd import ECD
from actlab.optimizers.soap import SOAP, preconditioned_sides

__all__ = [
    "ECD",
    "OPTIMIZERS",
    "SOAP",
    "Optimizer",
    "adamw",
    "build_optimizer",
    "check_complete",
    "find_optimizer",
    "sgdm",
]

Parameters = Iterable[nn.Parameter] | Iterable[dict[str, Any]]


def adamw(
    params: Parameters, lr: float = 1e-4, betas: tuple[float, float] = (0.9, 0.999), **settings: Any
) -> torch.optim.AdamW:
    """torch's fused AdamW, without weight decay unless it is given (then it is Adam)."""
    return torch.optim.AdamW(params, lr=lr, betas=betas, **{"weight_decay": 0.0, "fused": True, **settings})


def sgdm(
    params: Parameters,
    lr: float = 0.03,
    momentum: float = 0.95,
    nesterov: bool = True,
    weight_decay: float = 0.0,
    init_velocity_std: float = 0.1,
    *,
    generator: torch.Generator,
) -> torch.optim.SGD:
    """torch's SGD with Nesterov momentum, and a random velocity v_0 ~ N(0, ``init_velocity_std``^2) from ``generator``.

    Of the start alone the parameters move by -lr mu^2 / (1 - mu) v_0 in the end: 0.54 v_0 with the defaults, sd 0.054 a
    weight, 2.7 times the 0.02 of the initialisation. A ``generator`` at the same place gives every arm the same v_0.
    """
    optimizer = torch.optim.SGD(params, lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)
    if init_velocity_std < 0:
        raise BadInput(f"sgdm needs init_velocity_std >= 0, got {init_velocity_std}")
    for parameter in (p for group in optimizer.param_groups for p in group["params"] if init_velocity_std):
        velocity = torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype).mul_(init_velocity_std)
        optimizer.state[parameter]["momentum_buffer"] = velocity.to(parameter.device)
    return optimizer


Shapes = Iterable[torch.Size]


def _numbers(shapes: Shapes, each: int) -> int:
    return sum(each * shape.numel() for shape in shapes)


def _soap_bytes(shapes: Shapes, settings: Mapping[str, Any]) -> int:
    group = {"precondition_1d": False, "max_precondition_dim": 10_000, **settings}
    return sum(
        8 * shape.numel() + sum(8 * n * n for n in preconditioned_sides(shape, group).values()) for shape in shapes
    )


@dataclass(frozen=True)
class Optimizer:
    """One row of the table: how to make it, one update in a formula, who defined it, its published settings and its
    memory."""

    name: str
    factory: Callable[..., torch.optim.Optimizer]
    formula: str
    source: str
    defaults: Mapping[str, Any]
    """As in the published ablation."""
    state_bytes: Callable[[Shapes, Mapping[str, Any]], int]
    """(parameter shapes, settings) -> bytes of its state in float32, without a few scalars."""
    needs_closure: bool = False
    """Whether ``step`` must be given a closure; each accepts one."""


_ROWS = (
    Optimizer(
        "ecd",
        lambda params, generator, **settings: ECD(
            params, seed=int(torch.randint(2**62, (), generator=generator)), **settings
        ),
        r"p \leftarrow p - \tfrac{dt}{2} \tfrac{\eta d}{d - 1} \tfrac{g - p (p \cdot g)}{F - F_0},\ \Theta \leftarrow \Theta + dt\, p,\ |p| = 1",
        "De Luca, Nachman, Silverstein & Zheng 2025, arXiv 2501.18419",
        MappingProxyType({"lr": 1.0, "eta": 100.0, "F0": 2.0, "weight_decay": 0.0}),
        lambda shapes, settings: _numbers(shapes, 4),
        needs_closure=True,
    ),
    Optimizer(
        "adamw",
        lambda params, generator, **settings: adamw(params, **settings),
        r"W \leftarrow (1 - lr\, w) W - lr\, \hat m / (\sqrt{\hat v} + \epsilon)",
        "Loshchilov & Hutter 2019, arXiv 1711.05101",
        MappingProxyType({"lr": 1e-4, "betas": (0.9, 0.999), "weight_decay": 0.0}),
        lambda shapes, settings: _numbers(shapes, 8),
    ),
    Optimizer(
        "sgdm",
        lambda params, generator, **settings: sgdm(params, generator=generator, **settings),
        r"v \leftarrow \mu v + g,\ W \leftarrow W - lr\, (g + \mu v),\ v_0 \sim N(0, 0.1^2)",
        "Sutskever et al. 2013; the random start: Silverstein, Kunin & Shyam 2026, arXiv 2601.22257",
        MappingProxyType(
            {"lr": 0.03, "momentum": 0.95, "nesterov": True, "weight_decay": 0.0, "init_velocity_std": 0.1}
        ),
        lambda shapes, settings: _numbers(shapes, 4),
    ),
    Optimizer(
        "soap",
        lambda params, generator, **settings: SOAP(params, **settings),
        r"W \leftarrow W - lr\, Q_L \frac{\hat M'}{\sqrt{\hat V'} + \epsilon} Q_R^T,\ M', V' \text{ of } G' = Q_L^T G Q_R",
        "Vyas et al. 2024, arXiv 2409.11321",
        MappingProxyType({"lr": 3e-4, "betas": (0.95, 0.95), "weight_decay": 0.01, "precondition_frequency": 10}),
        _soap_bytes,
    ),
)
OPTIMIZERS: dict[str, Optimizer] = {row.name: row for row in _ROWS}
if len(OPTIMIZERS) != len(_ROWS):
    raise RuntimeError("two optimizers share one name")


def find_optimizer(name: str, where: str = "") -> Optimizer:
    """The table's entry of that name; ``UnknownName`` lists the known ones."""
    if name not in OPTIMIZERS:
        raise UnknownName("optimizer", name, OPTIMIZERS, where)
    return OPTIMIZERS[name]


def build_optimizer(
    name: str, params: Parameters, generator: torch.Generator, **settings: Any
) -> torch.optim.Optimizer:
    """A fresh optimizer with the published settings, changed by ``settings``.

    Args:
        name: a key of ``OPTIMIZERS``.
        params: every parameter of the model, or groups of them.
        generator: the optimizer's own random stream (ECD's turns, the start of sgdm); used now, or read for a seed.
        settings: what departs from the table's ``defaults``.

    Raises:
        UnknownName: the table has no such name.
        BadInput: a setting that this optimizer does not have, or a value that it refuses.
    """
    entry = find_optimizer(name)
    try:
        return entry.factory(params, generator, **{**entry.defaults, **settings})
    except TypeError as error:
        raise BadInput(f"optimizer {name!r} cannot take {sorted(settings)}: {error}") from None


def check_complete(optimizer: torch.optim.Optimizer, model: nn.Module) -> None:
    """Every trainable parameter of ``model`` is optimised, and nothing else; ``BadInput`` names what is missing.

    A tied parameter counts once. This guard is cheap, and a forgotten parameter trains silently as a constant.
    """
    optimised = {p for group in optimizer.param_groups for p in group["params"]}
    named = {p: name for name, p in model.named_parameters() if p.requires_grad}
    forgotten = sorted(name for p, name in named.items() if p not in optimised)
    strangers = len(optimised - set(named))
    if forgotten or strangers:
        raise BadInput(
            f"the optimizer misses {', '.join(forgotten) or 'nothing'} and holds {strangers} tensors that are not the model's"
        )
