"""Lines with bands, bars or marks alone, a panel each; the panels of every figure: numbers by name in, ``Figure`` out.
They compute nothing; intervals are 95%."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from actlab.figures.style import (
    GREY,
    LOOK,
    Look,
    canvas,
    keep,
    known,
    legend,
    looks,
    styled,
    words_alone,
)
from actlab.records.labels import words

Places = Sequence[float] | NDArray[np.float64]
WIDTH = 7.6
"""Inches of a figure with several panels."""


@dataclass(frozen=True)
class Line:
    """Places and heights of one line or of marks, with limits of either where they have some."""

    x: Places
    y: Places
    low: Places | None = None
    high: Places | None = None
    x_low: Places | None = None
    x_high: Places | None = None


def reach_of(middle: ArrayLike, low: ArrayLike | None = None, high: ArrayLike | None = None) -> Any:
    """Return Matplotlib's error of an interval: nothing where there is none."""
    if low is None or high is None:
        return None
    return np.nan_to_num([np.subtract(middle, low), np.subtract(high, middle)])


def panels(
    names: Collection[str], draw: Callable[[Axes, str], None], x: str, y: str, columns: int, height: float, share: bool
) -> Figure:
    """Make a panel a name, each drawn by ``draw``, under one legend; without a name, words that say that there is no
    record."""
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
        labels = chain.from_iterable(axes.get_legend_handles_labels()[1] for axes in parts)
        longest = max(map(len, labels), default=0)
        legend(figure, parts, max(1, int(figure.get_figwidth() / (0.5 + 0.08 * longest))))
        figure.supxlabel(x, fontsize=10)
        figure.supylabel(y, fontsize=10)
    return figure


def ordered(names: Iterable[str]) -> list[str]:
    """List names, each once: activations in the order that they have everywhere, then the others as given."""
    order = [*LOOK, ""]  # what has no look of its own comes last
    return sorted(dict.fromkeys(names), key=lambda name: order.index(known(name)))


def lines(
    drawn: Mapping[tuple[str, str], Line],
    x: str,
    y: str,
    *,
    kind: str = "band",
    hollow: Collection[tuple[str, str]] = (),
    zero: bool = False,
    log: bool = False,
    columns: int = 3,
    height: float = 2.3,
    share: bool = True,
) -> Figure:
    """Draw a panel a first name, a line a second one, with its limits.

    Args:
        drawn: the lines by panel and series.
        x, y: labels of the axes, with their units.
        kind: limits as a ``band`` or as ``bars``; ``alone``: marks with both limits, without a line (a scatter plot).
        hollow: drawn as hollow marks without a line or limits, so that what lies below is seen.
        zero: draw a line at 0.
        log: a logarithmic axis of ``x``, with ticks at the places of the lines where these are few.
        columns, height: panels beside each other at most; inches of each.
        share: panels have the same axes.
    """
    style_of = looks(series for _, series in drawn)

    def draw(axes: Axes, panel: str) -> None:
        for name in ordered(series for other, series in drawn if other == panel):
            how = "hollow" if (panel, name) in hollow else kind
            _line(axes, words(name), drawn[panel, name], how, style_of[name])
        if zero:
            axes.axhline(0, color=GREY, linewidth=0.8)
        if kind == "alone":
            axes.locator_params(nbins=4)
        if log:
            axes.set_xscale("log")
            places = chain.from_iterable(line.x for (other, _), line in drawn.items() if other == panel)
            ticks = sorted({*places})
            if len(ticks) < 10:
                axes.set_xticks(ticks, [f"{at / 1000:,.0f}k" if at >= 10_000 else f"{at:g}" for at in ticks])
                axes.minorticks_off()

    figure = panels(dict.fromkeys(panel for panel, _ in drawn), draw, x, y, columns, height, share)
    if not drawn:
        return figure
    tables = {names: pd.DataFrame(vars(line)) for names, line in drawn.items()}
    return keep(figure, pd.concat(tables, names=["panel", "series"]).reset_index(["panel", "series"]))


def _line(axes: Axes, label: str, line: Line, kind: str, look: Look) -> None:
    shade, mark, dashes = look
    style: dict[str, Any] = {"color": shade, "label": label}
    if kind == "hollow":
        axes.plot(line.x, line.y, mark, markerfacecolor="none", markersize=7, **style)
    elif kind == "band":
        axes.plot(line.x, line.y, dashes=dashes, **style)
        if line.low is not None and line.high is not None:
            axes.fill_between(line.x, line.low, line.high, color=shade, alpha=0.15, linewidth=0)
    else:
        style |= {"fmt": mark} if kind == "alone" else {"marker": mark, "dashes": dashes}
        reach = reach_of(line.y, line.low, line.high), reach_of(line.x, line.x_low, line.x_high)
        axes.errorbar(line.x, line.y, *reach, **style)
