"""Points with intervals, and lines with bands, bars or marks alone, a panel each: estimates by name in, ``Figure`` out.
They compute nothing; intervals are 95%."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import ceil, isnan
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from actlab.figures.style import (
    GREY,
    LOOK,
    Look,
    canvas,
    in_formula,
    keep,
    known,
    label_ends,
    legend,
    looks,
    styled,
    words_alone,
)
from actlab.statistics.estimate import Estimate

Key = tuple[str, str, str]
"""Panel, place on the axis of names, series."""
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


def line(found: Mapping[Any, Estimate]) -> Line:
    """A line through estimates at numbers."""
    values = list(found.values())
    return Line([float(x) for x in found], [e.value for e in values], [e.low for e in values], [e.high for e in values])


def crossed(x: Estimate, y: Estimate) -> Line:
    """A mark with both intervals."""
    return Line([x.value], [y.value], [y.low], [y.high], [x.low], [x.high])


def _reach(middle: ArrayLike, low: ArrayLike | None, high: ArrayLike | None) -> Any:
    """Matplotlib's error of an interval: nothing where there is none."""
    return None if low is None or high is None else np.nan_to_num([np.subtract(middle, low), np.subtract(high, middle)])


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
        legend(figure, every, max(1, int(figure.get_figwidth() / (0.5 + 0.08 * longest))))
        figure.supxlabel(x, fontsize=10)
        figure.supylabel(y, fontsize=10)
    return figure


def _ordered(names: Iterable[str]) -> list[str]:
    """Each once: activations in the order that they have everywhere, then the others as given."""
    order = list(LOOK)
    return sorted(dict.fromkeys(names), key=lambda name: order.index(key) if (key := known(name)) else len(order))


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
    own: Mapping[str, str] = MappingProxyType({}),
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
        own: series that are a user's own -> what the legend says of them (``records.settings.own_levels``).
    """
    behind = {key: np.ravel(np.asarray(values, dtype=float)) for key, values in (singles or {}).items()}
    keys = dict.fromkeys([*found, *behind])
    series = _ordered(s for *_, s in keys)
    style_of = looks(series)
    of_panel = {p: _ordered(place for panel, place, _ in keys if panel == p) for p, *_ in keys}

    def drawn_at(axes: Axes, at: float, key: Key) -> None:
        """The values of one key, and its estimate."""
        name, values = key[2], behind.get(key, np.array([]))
        label = in_formula(name, own[name]) if name in own else "_" if name in key[:2] else name
        style: dict[str, Any] = {"color": _shade(name, series, style_of), "label": label}
        beside = at + 0.04 * (np.arange(len(values)) - (len(values) - 1) / 2)
        axes.plot(values, beside, ".", markersize=5, alpha=0.7, **style)
        if key in found:
            axes.lines[-1].set_label("_")
            face = {"markerfacecolor": "white"} if key in hollow else {}
            _point(axes, at, found[key], fmt=style_of[name][1], **style, **face)

    def draw(axes: Axes, panel: str) -> None:
        places = of_panel[panel]
        for row, place in enumerate(places):
            here = [key for s in series if (key := (panel, place, s)) in keys]
            for i, key in enumerate(here):  # beside each other; all in the same order
                drawn_at(axes, row + (i - (len(here) - 1) / 2) * 0.7 / max(len(here), 4), key)
        axes.set_yticks(range(len(places)), places, fontsize=9)
        axes.set_ylim(len(places) - 0.4, -0.6)  # from the top
        axes.grid(axis="y", visible=False)
        if zero:
            axes.axvline(0, color=GREY, linewidth=0.8)
        if margin:
            axes.axvspan(-margin, margin, color=GREY, alpha=0.15, linewidth=0)
        if log:
            axes.set_xscale("log")
        else:
            axes.locator_params(axis="x", nbins=4)

    height = height or max(1, 0.3 + 0.21 * max(map(len, of_panel.values()), default=0))
    same = len({tuple(places) for places in of_panel.values()}) == 1
    drawn = [(key, vars(e) if e else {}) for key, e in found.items()]
    drawn += [(key, {"value": value}) for key, values in behind.items() for value in values]
    rows = [{"panel": panel, "place": place, "series": s, **numbers} for (panel, place, s), numbers in drawn]
    return keep(panels(of_panel, draw, label, "", columns, height, same), rows)


def _shade(name: str, series: Sequence[str], style_of: Mapping[str, Look]) -> Any:
    """The name's own colour; of numbers, by their order."""
    if not all(s.replace(".", "").isdigit() for s in series):
        return style_of[name][0]
    return mpl.colormaps["cividis"](series.index(name) / max(len(series) - 1, 1) * 0.85)


def _point(axes: Axes, at: float, e: Estimate | None, **style: Any) -> None:
    if e is None or isnan(e.value):
        words = "not run" if e is None else "diverged"
        axes.text(0.02, at, words, fontsize=9, va="center", transform=axes.get_yaxis_transform())
    else:
        axes.errorbar(e.value, at, xerr=_reach([e.value], [e.low], [e.high]), **style)


def lines(
    found: Mapping[tuple[str, str], Line],
    x: str,
    y: str,
    *,
    kind: str = "band",
    hollow: Collection[tuple[str, str]] = (),
    levels: Mapping[str, float] | None = None,
    zero: bool = False,
    log: bool = False,
    columns: int = 3,
    height: float = 2.3,
    share: bool = True,
    ends: bool = False,
    own: Mapping[str, str] = MappingProxyType({}),
) -> Figure:
    """A panel a first name, a line a second one, with its limits.

    Args:
        found: the lines by panel and series.
        x, y: labels of the axes, with their units.
        kind: limits as a ``band`` or as ``bars``; ``alone``: marks with both limits, without a line (a scatter plot).
        hollow: drawn as hollow marks without a line or limits, so that what lies below is seen.
        levels: name -> height of a dotted line in every panel.
        zero: draw a line at 0; of marks alone, on both axes.
        log: a logarithmic axis of ``x``.
        columns, height: panels beside each other at most; inches of each.
        share: panels have the same axes.
        ends: a line's name stands at its last point in place of a legend.
        own: as for ``points``.
    """
    style_of = looks(series for _, series in found)

    def draw(axes: Axes, panel: str) -> None:
        for name in _ordered(series for own, series in found if own == panel):
            label = "_" if ends else in_formula(name, own[name]) if name in own else name
            _line(axes, label, found[panel, name], "hollow" if (panel, name) in hollow else kind, style_of[name])
        _levels(axes, levels or {})
        if zero:
            axes.axhline(0, color=GREY, linewidth=0.8)
        if kind == "alone":
            axes.locator_params(nbins=4)
            if zero:
                axes.axvline(0, color=GREY, linewidth=0.8)
        if log:
            _log_axis(axes, {x for (p, _), one in found.items() if p == panel for x in one.x})

    rows = [
        {"panel": panel, "series": series, **dict(zip(vars(one), row, strict=True))}
        for (panel, series), one in found.items()
        for row in zip_longest(*(() if values is None else values for values in vars(one).values()))
    ]
    of_panel = dict.fromkeys(p for p, _ in found)
    figure = panels(of_panel, draw, x, y, columns, height, share)
    for axes, panel in zip(figure.axes if ends else (), of_panel, strict=False):
        last = {s: (one.x[-1], one.y[-1]) for (p, s), one in found.items() if p == panel}
        label_ends(axes, last, {name: style_of[name][0] for name in last})
    return keep(figure, rows)


def _levels(axes: Axes, levels: Mapping[str, float]) -> None:
    """Dotted lines with their names, which no curve strikes through."""
    for name, level in levels.items():
        axes.axhline(level, color=GREY, linewidth=0.8, linestyle=":")
        place: dict[str, Any] = {"xycoords": axes.get_yaxis_transform(), "ha": "right", "va": "bottom", "zorder": 5}
        axes.annotate(name, (0.99, level), path_effects=[withStroke(linewidth=2, foreground="white")], **place)


def _log_axis(axes: Axes, places: set[float]) -> None:
    """A logarithmic axis, its ticks at the places where they are few."""
    axes.set_xscale("log")
    if len(places) < 10:
        ticks = sorted(places)
        axes.set_xticks(ticks, [f"{at / 1000:,.0f}k" if at >= 10_000 else f"{at:g}" for at in ticks])
        axes.minorticks_off()


def _line(axes: Axes, label: str, one: Line, kind: str, look: Look) -> None:
    shade, mark, dashes = look
    style: dict[str, Any] = {"color": shade, "label": label}
    if kind == "hollow":
        axes.plot(one.x, one.y, mark, markerfacecolor="none", markersize=7, **style)
    elif kind == "band":
        axes.plot(one.x, one.y, dashes=dashes, **style)
        if one.low is not None and one.high is not None:
            axes.fill_between(one.x, one.low, one.high, color=shade, alpha=0.15, linewidth=0)
    else:
        style |= {"fmt": mark} if kind == "alone" else {"marker": mark, "dashes": dashes}
        reach = _reach(one.y, one.low, one.high), _reach(one.x, one.x_low, one.x_high)
        axes.errorbar(one.x, one.y, *reach, **style)
