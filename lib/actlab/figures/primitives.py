"""What figures have in common: panels under one legend, the order of names, the reach of intervals (95%)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from math import ceil
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from actlab.figures.style import LOOK, canvas, known, legend, styled, words_alone

WIDTH = 7.6
"""Inches of a figure with several panels."""


def reach_of(middle: ArrayLike, low: ArrayLike = np.nan, high: ArrayLike = np.nan) -> Any:
    """Return Matplotlib's error of an interval: nothing where there is none."""
    reach = np.subtract(middle, low), np.subtract(high, middle)
    return None if np.isnan(reach).all() else np.nan_to_num(reach)


def panels(
    names: Collection[str],
    draw: Callable[[Axes, str], None],
    labels: Sequence[str],
    columns: int,
    height: float,
    share: bool,
) -> Figure:
    """Make a panel a name, each drawn by ``draw``, under one legend, with the ``labels`` of the two axes; without a
    name, words that say that there is no record."""
    if not names:
        return words_alone()
    across = min(columns, len(names))
    rows = ceil(len(names) / across)
    with styled():
        figure, parts = canvas(rows, across, WIDTH if across > 1 else 0.8 * WIDTH, 0.7 + height * rows)
        for i, (axes, name) in enumerate(zip(parts, names, strict=False)):
            if share and i:
                axes.sharex(parts[0])
                axes.sharey(parts[0])
            draw(axes, name)
            axes.annotate(name, (0, 1.02), xycoords="axes fraction", va="bottom", fontsize=9)
        for axes in parts[len(names) :]:
            axes.set_axis_off()
        entries = chain.from_iterable(axes.get_legend_handles_labels()[1] for axes in parts)
        longest = max(map(len, entries), default=0)
        legend(figure, parts, max(1, int(figure.get_figwidth() / (0.5 + 0.08 * longest))))
        figure.supxlabel(labels[0], fontsize=10)
        figure.supylabel(labels[1], fontsize=10)
    return figure


def ordered(names: Iterable[str]) -> list[str]:
    """List names, each once: activations in the order that they have everywhere, then the others as given."""
    order = [*LOOK, ""]  # what has no look of its own comes last
    return sorted(dict.fromkeys(names), key=lambda name: order.index(known(name)))
