"""A picture of every activation function and its slope. Curves in, Figure out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from actlab.figures.style import canvas, colour, styled

Curve = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


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
