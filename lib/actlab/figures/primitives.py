"""Points with intervals, lines with bands and scatter plots, a panel each: estimates by name in, ``Figure`` out. They
compute nothing; intervals are 95%."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isnan
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from actlab.figures.data import Key, keep, of_lines, of_points, of_scatter
from actlab.figures.style import GREY, LOOK, canvas, known, legend, look, outlined, styled, words_alone
from actlab.statistics.estimate import Estimate

Bars = list[list[float]]
WIDTH = 7.6
"""Inches of a figure with several panels."""


@dataclass(frozen=True)
class Line:
    """Places and heights of one line, with limits where it has some."""

    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None


def line(found: Mapping[Any, Estimate]) -> Line:
    """A line through estimates at numbers."""
    values = list(found.values())
    return Line([float(x) for x in found], [e.value for e in values], [e.low for e in values], [e.high for e in values])


def error_bar(estimate: Estimate) -> Bars:
    """Matplotlib's ``yerr`` of an interval; nothing where there is none."""
    if isnan(estimate.low):
        return [[0.0], [0.0]]
    return [[estimate.value - estimate.low], [estimate.high - estimate.value]]


def panels(
    names: Collection[str], draw: Callable[[Axes, str], None], x: str, y: str, columns: int, height: float, share: bool
) -> Figure:
    """A panel a name, each drawn by ``draw``, under one legend; without a name, words that say that there is no
    record."""
    if not names:
        return words_alone()
    across = min(columns, len(names))
    rows = ceil(len(names) / across)
    with styled():
        figure, every = canvas(rows, across, WIDTH if across > 1 else 0.8 * WIDTH, 0.7 + height * rows)
        for i, (axes, name) in enumerate(zip(every, names, strict=False)):
            if share and i:
                axes.sharex(every[0])
                axes.sharey(every[0])
            draw(axes, name)
            axes.annotate(name, (0, 1.02), xycoords="axes fraction", va="bottom", fontsize=9)
        for axes in every[len(names) :]:
            axes.set_axis_off()
        longest = max((len(label) for axes in every for label in axes.get_legend_handles_labels()[1]), default=0)
        legend(figure, every, max(1, int(figure.get_figwidth() / (0.6 + 0.085 * longest))))
        figure.supxlabel(x, fontsize=10)
        figure.supylabel(y, fontsize=10)
    return figure


def points(
    found: Mapping[Key, Estimate | None],
    label: str,
    *,
    singles: Mapping[Key, ArrayLike] | None = None,
    hollow: Collection[Key] = (),
    zero: bool = False,
    margin: float = 0.0,
    log: bool = False,
    columns: int = 3,
    height: float = 0.0,
) -> Figure:
    """A panel a group of estimates, a row a place, a colour and marker a series.

    Args:
        found: the estimates; ``None`` was not run, NaN has diverged, and both are written out.
        label: of the axis of values, with its unit.
        singles: values behind an estimate, or alone, as small marks.
        hollow: whose mark has a white face.
        zero, margin: draw a line at 0; shade so much on both sides of it.
        log: a logarithmic axis.
        columns, height: panels beside each other at most; inches of each, by its rows if 0.
    """
    keys = _ordered(list(dict.fromkeys([*found, *(singles or {})])))
    series = list(dict.fromkeys(s for *_, s in keys))
    of_panel = {p: list(dict.fromkeys(place for panel, place, _ in keys if panel == p)) for p, *_ in keys}

    def draw(axes: Axes, panel: str) -> None:
        places = of_panel[panel]
        for key in (k for k in keys if k[0] == panel):
            at = places.index(key[1]) + _shift(key, keys)
            _point(axes, at, key, found.get(key), key in hollow, _shade(key[2], series), key in found)
            values = np.asarray((singles or {}).get(key, []), dtype=float)
            beside = at + 0.04 * (np.arange(len(values)) - (len(values) - 1) / 2)
            axes.plot(values, beside, ".", color=_shade(key[2], series), markersize=5, alpha=0.7)
        axes.set_yticks(range(len(places)), places, fontsize=8)
        axes.set_ylim(len(places) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        if zero:
            axes.axvline(0, color=GREY, linewidth=0.8)
        if margin:
            axes.axvspan(-margin, margin, color=GREY, alpha=0.15, linewidth=0)
        if log:
            axes.set_xscale("log")
        else:
            axes.locator_params(axis="x", nbins=4)

    height = height or 0.3 + 0.21 * max((len(places) for places in of_panel.values()), default=0)
    same = len({tuple(places) for places in of_panel.values()}) == 1
    return keep(panels(of_panel, draw, label, "", columns, height, same), of_points(found, singles or {}))


def _ordered(keys: Sequence[Key]) -> list[Key]:
    """As given, but series, and places that are activations, in the order that they have everywhere."""
    order, first = list(LOOK), [list(dict.fromkeys(key[i] for key in keys)) for i in (0, 1, 2)]

    def place(name: str, given: Sequence[str]) -> tuple[int, int]:
        return (order.index(key) if (key := known(name)) else len(order)), given.index(name)

    def where(key: Key) -> tuple[int, tuple[int, int], tuple[int, int]]:
        panel, at, series = key
        return first[0].index(panel), place(at, first[1]), place(series, first[2])

    return sorted(keys, key=where)


def _ordered_pairs(keys: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Panels as given, series in the order that they have everywhere."""
    return [(panel, name) for panel, _, name in _ordered([(panel, name, name) for panel, name in keys])]


def _shift(key: Key, keys: Sequence[Key]) -> float:
    """Beside the others at its place; all in the same order."""
    here = [k for k in keys if k[:2] == key[:2]]
    return (here.index(key) - (len(here) - 1) / 2) * 0.7 / max(len(here), 4)


def _shade(name: str, series: Sequence[str]) -> Any:
    """The name's own colour; of numbers, by their order."""
    if not all(s.replace(".", "").isdigit() for s in series):
        return look(name)[0]
    return mpl.colormaps["cividis"](series.index(name) / max(len(series) - 1, 1) * 0.85)


def _point(axes: Axes, at: float, key: Key, estimate: Estimate | None, hollow: bool, shade: Any, planned: bool) -> None:
    label = key[2] if key[2] not in (key[1], key[0]) else "_"
    if planned and (estimate is None or isnan(estimate.value)):
        words = "not run" if estimate is None else "diverged"
        axes.text(0.02, at, words, fontsize=7, va="center", transform=axes.get_yaxis_transform())
    elif estimate is None:
        axes.plot([], [], ".", color=shade, label=label)
    else:
        face = {"markerfacecolor": "white"} if hollow else {}
        style: dict[str, Any] = {"fmt": look(key[2])[1], "color": shade, "label": label, **face}
        axes.errorbar(estimate.value, at, xerr=error_bar(estimate), **style)


def lines(
    found: Mapping[tuple[str, str], Line],
    x: str,
    y: str,
    *,
    bars: bool = False,
    marks: Collection[tuple[str, str]] = (),
    levels: Mapping[str, float] | None = None,
    zero: bool = False,
    log: str = "",
    columns: int = 3,
    height: float = 2.3,
    share: bool = True,
) -> Figure:
    """A panel a first name, a line a second one, with its limits as a band.

    Args:
        found: the lines by panel and series.
        x, y: labels of the axes, with their units.
        bars: limits as error bars.
        marks: drawn as hollow marks without a line, so that what lies below is seen.
        levels: name -> height of a dotted line in every panel.
        zero: draw a line at 0.
        log: "x", "y" or "xy".
        columns, height: panels beside each other at most; inches of each.
        share: panels have the same axes.
    """

    ordered = _ordered_pairs(found)

    def draw(axes: Axes, panel: str) -> None:
        for key in (k for k in ordered if k[0] == panel):
            _line(axes, key[1], found[key], bars, key in marks)
        for name, level in (levels or {}).items():
            axes.axhline(level, color=GREY, linewidth=0.8, linestyle=":")
            outlined(
                axes, name, (0.99, level), xycoords=axes.get_yaxis_transform(), ha="right", va="bottom", fontsize=7
            )
        if zero:
            axes.axhline(0, color=GREY, linewidth=0.8)
        for scale, name in ((axes.set_xscale, "x"), (axes.set_yscale, "y")):
            if name in log:
                scale("log")
        if "x" in log:
            places = sorted({place for (p, _), one in found.items() if p == panel for place in one.x})
            if len(places) < 10:
                axes.set_xticks(places, [_short(place) for place in places])
                axes.minorticks_off()

    return keep(panels(dict.fromkeys(p for p, _ in found), draw, x, y, columns, height, share), of_lines(found))


def _short(value: float) -> str:
    return f"{value / 1000:,.0f}k" if value >= 10_000 else f"{value:g}"


def _line(axes: Axes, name: str, found: Line, bars: bool, marks: bool) -> None:
    shade, mark, dashes = look(name)
    x, y = np.asarray(found.x, dtype=float), np.asarray(found.y, dtype=float)
    low, high = (np.asarray(limit if limit is not None else y, dtype=float) for limit in (found.low, found.high))
    style: dict[str, Any] = {"color": shade, "label": name}
    if marks:
        axes.plot(x, y, mark, markerfacecolor="none", markersize=7, **style)
    elif bars:
        reach = np.nan_to_num(np.array([y - low, high - y]))
        axes.errorbar(x, y, reach, marker=mark, dashes=dashes, **style)
    else:
        axes.plot(x, y, dashes=dashes, **style)
        axes.fill_between(x, low, high, color=shade, alpha=0.15, linewidth=0)


def scatter(
    found: Mapping[tuple[str, str], Sequence[tuple[Estimate | float, Estimate | float]]],
    x: str,
    y: str,
    *,
    hollow: Collection[tuple[str, str]] = (),
    zero: bool = False,
    columns: int = 3,
) -> Figure:
    """A panel a first name, marks of one kind a second one, with both intervals; ``zero``: lines at 0 of both axes."""

    ordered = _ordered_pairs(found)

    def draw(axes: Axes, panel: str) -> None:
        for key in (k for k in ordered if k[0] == panel):
            shade, mark, _ = look(key[1])
            for i, both in enumerate(found[key]):
                (a, a_bar), (b, b_bar) = (
                    (e.value, error_bar(e)) if isinstance(e, Estimate) else (e, None) for e in both
                )
                style: dict[str, Any] = {"markerfacecolor": "none"} if key in hollow else {}
                axes.errorbar(a, b, b_bar, a_bar, fmt=mark, color=shade, label=key[1] if not i else "_", **style)
        if zero:
            axes.axhline(0, color=GREY, linewidth=0.8)
            axes.axvline(0, color=GREY, linewidth=0.8)
        axes.locator_params(nbins=4)

    return keep(panels(dict.fromkeys(p for p, _ in found), draw, x, y, columns, 2.3, False), of_scatter(found))
