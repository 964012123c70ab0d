"""Activation functions and their slopes, all of them in one picture, or one at work on real inputs. Curves in, Figure
out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from actlab.figures.style import canvas, colour, styled

Array = NDArray[np.float64]
Curve = tuple[Array, Array, Array]


def functions_and_slopes(curves: Mapping[str, Curve], columns: int = 5) -> Figure:
    """One panel an activation: ``curves[name] = (x, f(x), f'(x))``; the function is solid, its slope dashed."""
    rows = -(-len(curves) // columns)
    with styled():
        figure, panels = canvas(rows, columns, width=8.4, height=1.75 * rows)
        for axes, (name, (x, value, slope)) in zip(panels, curves.items(), strict=False):
            axes.axhline(0, color="#999999", linewidth=0.6)
            axes.plot(x, value, color=colour(name))
            axes.plot(x, slope, color=colour(name), linestyle="--", linewidth=1.0)
            axes.annotate(name, (0.05, 0.95), xycoords="axes fraction", va="top", fontsize=9)
            axes.set_ylim(-1.2, 3.2)
            axes.tick_params(labelsize=7)
        for axes in panels[len(curves) :]:
            axes.axis("off")
        figure.supxlabel("input x", fontsize=9)
        figure.supylabel("f(x) solid, slope f'(x) dashed", fontsize=9)
    return figure


def activation_at_work(name: str, curve: Curve, inputs: Array, gradients: Array) -> Figure:
    """Four panels: f(x) and its slope over the range of x; densities of pre-activations and of their gradients (without
    those of exactly 0)."""
    x, value, slope = curve
    with styled():
        figure, (top_left, top_right, bottom_left, bottom_right) = canvas(2, 2, width=8.0, height=5.2)
        for axes, heights, label in ((top_left, value, "f(x)"), (top_right, slope, "slope f'(x)")):
            axes.plot(x, heights, color=colour(name))
            axes.set(xlabel="input x", ylabel=label)
        _histogram(bottom_left, inputs, name, "pre-activation x")
        nonzero = gradients[gradients != 0]
        _histogram(bottom_right, np.log10(np.abs(nonzero)), name, "log10 of the gradient's size, where it is not 0")
    return figure


def _histogram(axes: Axes, values: Array, name: str, label: str) -> None:
    if len(values):
        axes.hist(values, bins=80, density=True, color=colour(name), alpha=0.75)
    axes.set(xlabel=label, ylabel="density")
