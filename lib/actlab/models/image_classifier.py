"""One-hidden-layer image classifiers without biases, plain or gated. Not a language model; how it is trained stands in
`trainers/stacked.py`.

Shapes: N images of K pixels, w hidden units, C classes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from actlab.activations import ACTIVATIONS, Activation
from actlab.models.layers import nearest_width

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
    def initialise(self, generator_for: Callable[[str], torch.Generator]) -> None:
        """Every matrix from N(0, 0.02^2), as published, by a generator of its own, made from its name; so that a gated
        network's hidden units start of second order in 0.02.

        Plain and gated networks of one width therefore share ``w_in`` and ``w_out`` where they share a seed.
        """
        for name in ("w_gate", "w_in", "w_out"):
            if (parameter := getattr(self, name)) is not None:
                nn.init.normal_(parameter, 0.0, PUBLISHED_STD, generator=generator_for(name))


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


@dataclass(frozen=True)
class Network:
    """One row of the table of arms: an activation, and what ``hidden`` units of a plain network mean for it."""

    activation: str
    width: Callable[[int, int, int], int]
    """(pixels, hidden, classes) -> its own hidden units."""


def networks() -> dict[str, Network]:
    """``relu``, ``geglu_equal_width``, ``geglu_equal_parameters``, and the same for every activation without parameters
    of its own."""
    rows = {}
    for name, activation in ACTIVATIONS.items():
        if activation.learns:  # a learned slope would need a training of its own
            continue
        if activation.gated:
            rows[f"{name}_equal_width"] = Network(name, equal_width)
            rows[f"{name}_equal_parameters"] = Network(name, equal_parameters)
        else:
            rows[name] = Network(name, equal_width)
    return rows
