"""The activation functions of the studies: one table of frozen entries, and the modules that it makes.

A plain activation maps (..., n) to (..., n).  A gated one is two projections and a product (Shazeer 2020,
arXiv 2002.05202); its module takes both projections packed on the last axis, the gate first, and maps
(..., 2n) to (..., n): ``f(gate) * value``.  The layer that owns the projections asks for twice the width.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from actlab.errors import BadInput, Table


class _SmeLU(torch.autograd.Function):
    """With the slope t = clip((x + beta) / (2 beta), 0, 1): value beta t^2 + max(0, x - beta), derivative t. Half the
    memory traffic of autograd."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, beta: float) -> Tensor:
        t = (x + beta).mul_(0.5 / beta).clamp_(0, 1)
        ctx.save_for_backward(t)
        return (x - beta).relu_().addcmul_(t, t, value=beta)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (t,) = ctx.saved_tensors
        return gradient * t, None


class SmeLU(nn.Module):
    """Smooth ReLU: 0 below -beta, (x + beta)^2 / (4 beta) up to beta, x above.

    ReLU convolved with a box of half-width ``beta`` > 0; value and slope are continuous, f(0) = beta / 4.
    Shamir, Lin & Coviello 2020, arXiv 2010.09931.
    """

    def __init__(self, beta: float) -> None:
        super().__init__()
        if not beta > 0:
            raise BadInput(f"SmeLU needs beta > 0, got {beta}; the limit beta -> 0 is 'relu'")
        self.beta = beta

    def forward(self, x: Tensor) -> Tensor:
        return _SmeLU.apply(x, self.beta)  # type: ignore[no-untyped-call]


class SharpGELU(nn.Module):
    """x * Phi(beta x): beta = 1 is GELU, beta -> infinity is ReLU. Hendrycks & Gimpel 2016, arXiv 1606.08415 (there
    sigma = 1 / beta)."""

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.beta = beta

    def forward(self, x: Tensor) -> Tensor:
        return F.gelu(self.beta * x) / self.beta


class Swish(nn.Module):
    """x * sigmoid(beta x): beta = 0 is x / 2, beta = 1 is SiLU, beta -> infinity is ReLU. Ramachandran et al. 2017,
    arXiv 1710.05941."""

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.beta = beta

    def forward(self, x: Tensor) -> Tensor:
        return F.silu(x) if self.beta == 1 else x * torch.sigmoid(self.beta * x)


class SquaredReLU(nn.Module):
    """max(0, x)^2, homogeneous of degree 2. So et al. 2021 (Primer), arXiv 2109.08668."""

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x).square()


class Sine(nn.Module):
    """sin(omega x): periodic, so that no sign of the input says the sign of the output. Sitzmann et al. 2020, arXiv
    2006.09661 (omega = 30 there)."""

    def __init__(self, omega: float) -> None:
        super().__init__()
        self.omega = omega

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(self.omega * x)


class _Step(torch.autograd.Function):
    """Value 1[x > 0] (NaN stays NaN), "derivative" 1[|x| <= 1]: the straight-through estimator, cut off where the input
    is far from the step."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.where(torch.isnan(x), x, (x > 0).to(x.dtype))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return gradient * (x.abs() <= 1).to(gradient.dtype)


class Step(nn.Module):
    """1 where x > 0, else 0. Its true derivative is 0, so training uses the straight-through estimator of Bengio,
    Leonard & Courville 2013 (arXiv 1308.3432) with the window |x| <= 1 of Courbariaux et al. 2016 (arXiv
    1602.02830)."""

    def forward(self, x: Tensor) -> Tensor:
        return _Step.apply(x)  # type: ignore[no-untyped-call]


class PReLU(nn.Module):
    """max(0, x) + slope * min(0, x), one learned slope per feature of the **last** axis.

    ``torch.nn.PReLU`` takes its slopes along axis 1, which is time in a (B, T, C) tensor: with C == T it would silently
    tie the slopes to positions.  The slopes start from N(``mean``, ``std``^2); ``std = 0`` is the constant of He et al.
    2015 (arXiv 1502.01852).  ``features = 1`` shares one slope over all features.
    """

    def __init__(self, features: int = 1, mean: float = 0.25, std: float = 0.0) -> None:
        super().__init__()
        self.mean, self.std = mean, std
        self.slope = nn.Parameter(torch.empty(features))
        self.initialise()

    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Draw the slopes anew (from the global stream where no generator is given)."""
        with torch.no_grad():
            self.slope.fill_(self.mean)
            if self.std:
                self.slope.normal_(self.mean, self.std, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        return torch.where(x >= 0, x, self.slope * x)


class Gated(nn.Module):
    """(..., 2n) -> (..., n): ``f(first half) * second half``. The first half is the gate."""

    def __init__(self, gate: nn.Module) -> None:
        super().__init__()
        self.gate = gate

    def forward(self, x: Tensor) -> Tensor:
        gate, value = x.chunk(2, dim=-1)
        return self.gate(gate) * value


@dataclass(frozen=True)
class Activation:
    """One row of the table: how to make the module, what it computes and who defined it."""

    name: str
    factory: Callable[..., nn.Module]
    formula: str
    source: str
    gated: bool = False
    per_feature: bool = False
    """Whether the factory takes ``features``, the size of the last axis."""

    @property
    def learns(self) -> bool:
        """Say whether its module has parameters of its own."""
        return next(self.make().parameters(), None) is not None

    def make(self, features: int = 1, **parameters: Any) -> nn.Module:
        """Make a fresh module. ``features``: size of the axis that it acts on, used where slopes are per feature."""
        if self.per_feature:
            parameters["features"] = features
        return self.factory(**parameters)


def _gated(gate: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    return lambda: Gated(gate())


_SHAZEER = "Shazeer 2020, arXiv 2002.05202"
_SHAMIR = "Shamir, Lin & Coviello 2020, arXiv 2010.09931"
_GELU = "Hendrycks & Gimpel 2016, arXiv 1606.08415"
_SWISH = "Ramachandran et al. 2017, arXiv 1710.05941"

_ROWS = (
    Activation("relu", nn.ReLU, r"\max(0, x)", "Nair & Hinton 2010"),
    Activation("gelu", nn.GELU, r"x\,\Phi(x) = \tfrac{x}{2}\,(1 + \mathrm{erf}(x/\sqrt{2}))", _GELU),
    Activation(
        "gelu_tanh",
        lambda: nn.GELU(approximate="tanh"),
        r"\tfrac{x}{2}\,(1 + \tanh(\sqrt{2/\pi}\,(x + 0.044715\,x^3)))",
        _GELU,
    ),
    Activation("swish", lambda: Swish(1.0), r"x\,\sigma(x)", _SWISH),
    Activation(
        "swish_beta", lambda beta=1.702: Swish(beta), r"x\,\sigma(\beta x),\ \beta = 1.702\ \text{unless given}", _SWISH
    ),
    Activation("smelu_05", lambda: SmeLU(0.5), r"\mathrm{SmeLU}_{\beta=0.5}(x)", _SHAMIR),
    Activation("smelu_1", lambda: SmeLU(1.0), r"\mathrm{SmeLU}_{\beta=1}(x)", _SHAMIR),
    Activation(
        "smelu",
        lambda beta=1.0: SmeLU(beta),
        r"0\ (x \le -\beta);\ (x + \beta)^2 / (4\beta)\ (|x| < \beta);\ x\ (x \ge \beta)",
        _SHAMIR,
    ),
    Activation(
        "prelu", PReLU, r"\max(0, x) + w \min(0, x),\ w_0 = 0.25", "He et al. 2015, arXiv 1502.01852", per_feature=True
    ),
    Activation(
        "random_prelu",
        lambda features=1, mean=0.2, std=1.0: PReLU(features, mean, std),
        r"\max(0, x) + w \min(0, x),\ w_0 \sim N(0.2, 1)",
        "Silverstein, Kunin & Shyam 2026, arXiv 2601.22257",
        per_feature=True,
    ),
    Activation("leaky_relu", nn.LeakyReLU, r"\max(0, x) + 0.01 \min(0, x)", "Maas, Hannun & Ng 2013"),
    Activation("squared_relu", SquaredReLU, r"\max(0, x)^2", "So et al. 2021, arXiv 2109.08668"),
    Activation("mish", nn.Mish, r"x \tanh(\log(1 + e^x))", "Misra 2019, arXiv 1908.08681"),
    Activation("identity", nn.Identity, r"x", "the linear control"),
    Activation(
        "sine",
        lambda omega=1.0: Sine(omega),
        r"\sin(\omega x),\ \omega = 1\ \text{unless given}",
        "Sitzmann et al. 2020, arXiv 2006.09661",
    ),
    Activation(
        "step", Step, r"1\ (x > 0);\ 0\ (x \le 0)", "straight-through gradient: Bengio et al. 2013, arXiv 1308.3432"
    ),
    Activation("swiglu", _gated(nn.SiLU), r"(g\,\sigma(g)) \odot v", _SHAZEER, gated=True),
    Activation("geglu", _gated(nn.GELU), r"\mathrm{GELU}(g) \odot v", _SHAZEER, gated=True),
    Activation("reglu", _gated(nn.ReLU), r"\max(0, g) \odot v", _SHAZEER, gated=True),
    Activation("bilinear", _gated(nn.Identity), r"g \odot v", _SHAZEER, gated=True),
)

_FAMILIES: dict[str, tuple[Callable[[float], nn.Module], str, str]] = {
    "smelu": (SmeLU, r"\mathrm{SmeLU}_{\beta=%s}(x)", _SHAMIR),
    "gelu": (SharpGELU, r"x\,\Phi(%s\,x)", _GELU),
    "swish": (Swish, r"x\,\sigma(%s\,x)", _SWISH),
}


def _member(name: str) -> Activation | None:
    """Make ``smelu_0.3``, ``gelu_10``, ``swish_3``: one of a family, by its beta as a plain decimal."""
    if name in SYNONYMS:
        return next(row for row in _ROWS if row.name == SYNONYMS[name])
    match = re.fullmatch(r"(smelu|gelu|swish)_((?:[1-9]\d{0,5}|0)(?:\.\d{0,5}[1-9])?)", name)
    if not match or not (beta := float(match[2])):
        return None
    factory, formula, source = _FAMILIES[match[1]]
    return Activation(name, lambda: factory(beta), formula % match[2], source)


SYNONYMS = {"silu": "swish"}
"""PyTorch's name -> ours: a trial has ours, so that one function is trained once."""

ACTIVATIONS = Table("activation", ((row.name, row) for row in _ROWS), _member)
"""By name; ``smelu_0.3``, ``gelu_10`` and ``swish_3`` (any beta) are made as they are asked for, and
``actlab.register_activation`` adds a user's own."""


def get_activation(name: str, features: int = 1, **parameters: Any) -> nn.Module:
    """Make a fresh module of the named activation, at each call.

    Args:
        name: a key of ``ACTIVATIONS``.
        features: size of the last axis; only the PReLUs use it (1: one slope for all features).
        parameters: what the entry's formula leaves open, as ``get_activation("smelu", beta=0.3)``.

    Raises:
        UnknownName: the table has no such name (the message lists the known ones).
    """
    return ACTIVATIONS[name].make(features, **parameters)


def slope(module: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return df/dx at each element of ``x`` by automatic differentiation, for a plain activation."""
    point = x.detach().clone().requires_grad_(True)
    (gradient,) = torch.autograd.grad(module(point).sum(), point)
    return gradient
