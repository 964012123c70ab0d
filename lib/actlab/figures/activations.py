"""One activation at work on real inputs: its curve, its slope, and what flows through it. Curves in, Figure out."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from actlab.figures.style import canvas, look, styled

Array = NDArray[np.float64]
Curve = tuple[Array, Array, Array]


def activation_at_work(name: str, curve: Curve, inputs: Array, gradients: Array) -> Figure:
    """Four panels: f(x) and its slope over the range of x; densities of pre-activations and of their gradients (without
    those of exactly 0)."""
    x, value, slope = curve
    with styled():
        figure, (top_left, top_right, bottom_left, bottom_right) = canvas(2, 2, width=8.0, height=5.2)
        for axes, heights, label in ((top_left, value, "f(x)"), (top_right, slope, "slope f'(x)")):
            axes.plot(x, heights, color=look(name)[0])
            axes.set(xlabel="input x", ylabel=label)
        _histogram(bottom_left, inputs, name, "pre-activation x")
        nonzero = gradients[gradients != 0]
        _histogram(bottom_right, np.log10(np.abs(nonzero)), name, "log10 of the gradient's size, where it is not 0")
    return figure


def _histogram(axes: Axes, values: Array, name: str, label: str) -> None:
    if len(values):
        axes.hist(values, bins=80, density=True, color=look(name)[0], alpha=0.75)
    axes.set(xlabel=label, ylabel="density")
