"""One-hidden-layer image classifiers without biases, plain or gated. Not a language model; how it is trained stands in
`trainers/stacked.py`.

Shapes: N images of K pixels, w hidden units, C classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from actlab.activations import Activation, PReLU
from actlab.errors import UnknownName
from actlab.models.layers import nearest_width

INITS = ("published", "variance")
PUBLISHED_STD = 0.02


class FFN(nn.Module):
    """(N, K) -> logits (N, C): ``f(x W_in) W_out``, or ``(f(x W_gate) * (x W_in)) W_out`` where the activation is
    gated.

    The published pair of networks has ``f = ReLU`` plain and ``f = GELU`` gated (Shazeer 2020, arXiv 2002.05202, eqs. 2
    and 5).

    Args:
        features: K, pixels of an image.
        width: w, hidden units after the gate.
        classes: C.
        activation: an entry of the table, plain or gated.
    """

    def __init__(self, features: int, width: int, classes: int, activation: Activation) -> None:
        super().__init__()
        self.activation, self.width = activation, width
        self.w_gate = nn.Parameter(torch.empty(features, width)) if activation.gated else None
        self.w_in = nn.Parameter(torch.empty(features, width))
        self.w_out = nn.Parameter(torch.empty(width, classes))
        self.act = activation.make(features=width)

    def forward(self, x: Tensor) -> Tensor:
        hidden = x @ self.w_in  # (N, w)
        if self.w_gate is not None:
            hidden = torch.cat([x @ self.w_gate, hidden], dim=-1)  # (N, 2w), the gate first
        return self.act(hidden) @ self.w_out

    @torch.no_grad()
    def initialise(
        self, generator_for: Callable[[str], torch.Generator], init: str = "published", pixel_power: float = 1.0
    ) -> None:
        """Fill every parameter from a generator of its own, made from its name.

        Plain and gated networks of one width therefore share ``w_in`` and ``w_out`` where they share a seed (with
        ``variance``, up to scale).

        Args:
            generator_for: parameter name -> generator.
            init: ``published``: every matrix from N(0, 0.02^2), so that a gated network's hidden units start of second
            order in 0.02.
                ``variance``: pre-activations and logits start with variance 1, plain or gated, whatever the activation
                (as He et al. 2015).
            pixel_power: mean square of a pixel, which ``variance`` divides by.
        """
        if init not in INITS:
            raise UnknownName("init", init, INITS)
        for name, module in self.named_modules():
            if isinstance(module, PReLU):
                module.initialise(generator_for(f"{name}.slope"))
        features, width = self.w_in.shape
        first = last = PUBLISHED_STD
        if init == "variance":
            first = 1 / math.sqrt(features * pixel_power)
            last = 1 / math.sqrt(width * hidden_power(self.act, width, self.activation.gated))
        for name, std in (("w_gate", first), ("w_in", first), ("w_out", last)):
            if (parameter := getattr(self, name)) is not None:
                nn.init.normal_(parameter, 0.0, std, generator=generator_for(name))


def hidden_power(act: nn.Module, width: int, gated: bool, points: int = 4001) -> float:
    """E f(z)^2 for z ~ N(0, 1), the mean over ``width`` units: what a hidden unit's square is where pre-activations are
    standard normal.

    A gated unit multiplies by a second, independent standard normal, whose mean square is 1.
    """
    z = torch.linspace(-8, 8, points, dtype=torch.float64)
    weight = torch.exp(-z.square() / 2)
    column = z.float()[:, None].expand(-1, width)
    value = act(torch.cat([column, torch.ones_like(column)], dim=-1) if gated else column)
    return ((weight / weight.sum()) @ value.detach().double().square()).mean().item()


def count(features: int, width: int, classes: int, gated: bool) -> int:
    """Parameters of a network, slopes of a learned activation apart."""
    return width * ((2 if gated else 1) * features + classes)


def equal_width(features: int, hidden: int, classes: int) -> int:
    """The gated width that keeps the hidden units: ``hidden``, with (2K + C) / (K + C) times the parameters."""
    return hidden


def equal_parameters(features: int, hidden: int, classes: int) -> int:
    """The gated width whose parameter count is nearest to that of a plain network of ``hidden`` units (about half of
    it)."""
    return nearest_width(
        lambda width: count(features, width, classes, gated=True), count(features, hidden, classes, gated=False)
    )
