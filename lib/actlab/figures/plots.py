"""Figures of tidy tables: a forest of intervals, lines along training, a heat map, bars; a panel a group, a colour a
level. Tables in, ``Figure`` out; nothing is estimated here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike

from actlab.figures.primitives import WIDTH, ordered, panels, reach_of
from actlab.figures.style import GREY, canvas, keep, legend, looks, styled
from actlab.records.labels import small
from actlab.records.labels import words as in_words

Key = tuple[str, str, str]
"""Panel, place on the axis of names, series."""


def forest(
    table: pd.DataFrame,
    label: str,
    value: str = "difference",
    panel: str = "model",
    row: str = "activation",
    series: str = "",
    filled: str = "",
    *,
    singles: Mapping[Key, ArrayLike] = MappingProxyType({}),
    zero: bool = False,
    log: bool = False,
    columns: int = 3,
    height: float = 0.0,
    share: bool = True,
) -> Figure:
    """Draw a row a comparison or mean, in a panel for each ``panel``: ``value`` with ``low`` and ``high`` (95%);
    what is missing or has diverged (NaN) is written out.

    Args:
        table: of ``contrasts``, ``equal_loss`` or ``means``.
        label: of the axis of values, with its unit.
        value, panel, row: columns; ``panel=""``: one panel.
        series: column whose levels have a colour and marker each; ``row``'s unless given.
        filled: column of truth values: marks without it are hollow (not significant, say).
        singles: values behind a mark, or alone, as small marks.
        zero: draw a line at 0.
        log: a logarithmic axis.
        columns, height: panels beside each other at most; inches of each, by its rows if 0.
        share: panels with the same rows have one axis of values.
    """
    marks = {
        (str(mark.get(panel, "")), str(mark[row]), str(mark[series or row])): mark for mark in table.to_dict("records")
    }
    keys = dict.fromkeys([*marks, *singles])
    names = ordered(name for *_, name in keys)
    style_of = looks(names)
    shades: dict[str, Any] = {name: shade for name, (shade, *_) in style_of.items()}
    if all(number.replace(".", "").isdigit() for number in names):  # numbers have colours in their order
        shades = dict(zip(names, mpl.colormaps["cividis"](np.linspace(0, 0.85, len(names))), strict=True))
    places = {title: ordered(place for other, place, _ in keys if other == title) for title, *_ in keys}

    def draw_key(axes: Axes, height: float, key: Key) -> None:
        name, mark, values = key[2], marks.get(key), np.ravel(singles.get(key, []))
        style: dict[str, Any] = {"color": shades[name], "label": in_words(name) if name not in key[:2] else "_"}
        heights = height + 0.04 * (np.arange(len(values)) - (len(values) - 1) / 2)
        axes.plot(values, heights, ".", markersize=5, alpha=0.7, **style)
        if mark is None:
            return
        missing = mark.get("status") == "missing"
        if missing or np.isnan(mark[value]):
            why = "not run" if missing else "diverged"
            axes.text(0.02, height, why, fontsize=9, va="center", transform=axes.get_yaxis_transform())
        else:
            if filled and not mark[filled]:
                style["markerfacecolor"] = "white"
            reach = reach_of([mark[value]], [mark.get("low", np.nan)], [mark.get("high", np.nan)])
            axes.errorbar(mark[value], height, xerr=reach, fmt=style_of[name][1], **style)

    def draw(axes: Axes, title: str) -> None:
        for i, place in enumerate(places[title]):
            in_place = [(title, place, name) for name in names if (title, place, name) in keys]
            middle, across = (len(in_place) - 1) / 2, max(len(in_place), 4)
            for j, key in enumerate(in_place):  # beside each other; all in the same order
                draw_key(axes, i + (j - middle) * 0.7 / across, key)
        axes.set_yticks(range(len(places[title])), [*map(in_words, places[title])], fontsize=9)
        axes.set_ylim(len(places[title]) - 0.4, -0.6)  # from the top
        axes.grid(axis="y", visible=False)
        if zero:
            axes.axvline(0, color=GREY, linewidth=0.8)
        if log:
            axes.set_xscale("log")
        else:
            axes.locator_params(axis="x", nbins=4)

    height = height or max(1, 0.3 + 0.21 * max(map(len, places.values()), default=0))
    same = share and len({tuple(rows) for rows in places.values()}) == 1
    figure = panels(places, draw, (label, ""), columns, height, same)
    return keep(figure, table.filter(dict.fromkeys([panel, row, series, value, "low", "high", "n"])))


def curves(
    table: pd.DataFrame,
    x: str,
    y: str,
    labels: Sequence[str],
    panel: str = "model",
    series: str = "activation",
    *,
    kind: str = "band",
    hollow: Collection[tuple[str, str]] = (),
    zero: bool = False,
    log: bool = False,
    columns: int = 3,
    height: float = 2.3,
    share: bool = True,
) -> Figure:
    """Draw lines of ``y`` against ``x``, in the order of their rows, a panel for each ``panel`` and a line for each
    ``series``, with the limits in the columns ``low`` and ``high`` where the table has them.

    Args:
        labels: of the two axes, with their units.
        kind: limits as a ``band`` or as ``bars``; ``alone``: marks without a line (a scatter plot), with limits of both
            (of ``x`` in the columns ``low_x`` and ``high_x``).
        hollow: (panel, series) drawn as hollow marks without a line or limits, so that what lies below is seen.
        zero: draw a line at 0.
        log: a logarithmic axis of ``x``, with ticks at the places of the lines where these are few.
        columns, height: panels beside each other at most; inches of each.
        share: panels have the same axes.
    """
    lines = {(str(title), str(name)): rows for (title, name), rows in table.groupby([panel, series], sort=False)}
    style_of = looks(name for _, name in lines)

    def draw(axes: Axes, title: str) -> None:
        in_panel = {name: rows for (other, name), rows in lines.items() if other == title}
        for name in ordered(in_panel):
            rows, (shade, mark, dashes) = in_panel[name], style_of[name]
            how = "hollow" if (title, name) in hollow else kind
            low, high, low_x, high_x = (rows.get(side, np.nan) for side in ("low", "high", "low_x", "high_x"))
            style: dict[str, Any] = {"color": shade, "label": in_words(name)}
            if how == "hollow":
                axes.plot(rows[x], rows[y], mark, markerfacecolor="none", markersize=7, **style)
            elif how == "band":
                axes.plot(rows[x], rows[y], dashes=dashes, **style)
                axes.fill_between(rows[x], low, high, color=shade, alpha=0.15, linewidth=0)
            else:
                style |= {"fmt": mark} if how == "alone" else {"marker": mark, "dashes": dashes}
                reach = reach_of(rows[y], low, high), reach_of(rows[x], low_x, high_x)
                axes.errorbar(rows[x], rows[y], *reach, **style)
        if zero:
            axes.axhline(0, color=GREY, linewidth=0.8)
        if kind == "alone":
            axes.locator_params(nbins=4)
        if log:
            axes.set_xscale("log")
            ticks = sorted({*chain.from_iterable(rows[x] for rows in in_panel.values())})
            if len(ticks) < 10:
                axes.set_xticks(ticks, [f"{at / 1000:,.0f}k" if at >= 10_000 else f"{at:g}" for at in ticks])
                axes.minorticks_off()

    figure = panels(dict.fromkeys(title for title, _ in lines), draw, labels, columns, height, share)
    return keep(figure, table.filter(dict.fromkeys([panel, series, x, y, "low", "high", "low_x", "high_x"])))


def heat(table: pd.DataFrame, label: str, words: pd.DataFrame) -> Figure:
    """Draw a heat map of a table of numbers, its index down and its columns across; ``words``: what each cell says."""
    down, across = table.shape
    with styled():
        figure, (axes,) = canvas(1, 1, 1.3 + across, 0.9 + 0.36 * down)
        figure.colorbar(_cells(axes, table, words), ax=axes, label=label)
        axes.set_xticks(range(across), [in_words(str(name)) for name in table.columns])
        axes.set_yticks(range(down), [in_words(str(name)) for name in table.index])
    return keep(figure, table.reset_index())


def _cells(axes: Axes, table: pd.DataFrame, words: pd.DataFrame, least: float | None = None) -> AxesImage:
    """Draw coloured cells with words on them; the colours begin at ``least``, or at the least number."""
    values = table.to_numpy(dtype=float)
    image = axes.imshow(values, cmap="cividis", aspect="auto", vmin=least)
    middle = np.mean(image.get_clim())
    for (i, j), number in np.ndenumerate(values):
        ink = "black" if number > middle else "white"
        axes.text(j, i, words.iat[i, j], ha="center", va="center", color=ink, fontsize=9)
    axes.grid(visible=False)
    return image


def bars(table: pd.DataFrame, label: str, panel: str = "model", row: str = "activation") -> Figure:
    """Draw a bar a mean of a table of ``means`` with its interval, the bars of each ``panel`` beside each other and all
    on one axis, so that they compare."""
    sides = table.astype({panel: str, row: str}).set_index([panel, row])[["estimate", "low", "high"]]
    grids = [sides[side].unstack(row, sort=False) for side in sides]
    with styled():
        figure, (axes,) = canvas(1, 1, max(WIDTH, 0.7 * len(grids[0])), 3.4)
        _draw_bars(axes, *grids)
        _name_ticks(axes, _short([*grids[0].index]), 90)
        axes.set_ylabel(label)
        legend(figure, [axes], 6)
    return keep(figure, table)


def _draw_bars(axes: Axes, grid: pd.DataFrame, *limits: pd.DataFrame) -> None:
    """Draw a bar a cell, those of a row beside each other and each column in its colour, with limits if there are
    any."""
    names = ordered(map(str, grid))
    width = 0.8 / len(names)
    for i, (name, (shade, *_)) in enumerate(looks(names).items()):
        places = np.arange(len(grid)) + width * (i - (len(names) - 1) / 2)
        reach = reach_of(grid[name], *(side[name] for side in limits))
        axes.bar(places, grid[name], 0.9 * width, yerr=reach, color=shade, label=in_words(name))
    axes.grid(axis="x", visible=False)


def _short(groups: Sequence[str]) -> list[str]:
    """Write names of groups without the parts that all of them share, a part a line."""
    parts = [name.split(", ") for name in groups]
    shared = set.intersection(*map(set, parts)) if len(parts) > 1 else set[str]()
    return ["\n".join(in_words(part) for part in name if part not in shared) for name in parts]


def _name_ticks(axes: Axes, names: Sequence[str], letters: int) -> None:
    """Name the ticks of an axis that has room for so many letters beside each other; longer names are turned."""
    longest = max((len(line) for name in names for line in name.splitlines()), default=0)
    axes.set_xticks(range(len(names)), names, fontsize=8, rotation=90 if longest * len(names) > letters else 0)


def overview(grid: pd.DataFrame, pairs: Mapping[str, ArrayLike], label: str) -> Figure:
    """Draw four panels of a metric: means by group and arm as bars, all pairs of each group as boxes, the means as a
    heat map with their numbers, whose colours begin at 0, and how much they vary over the arms (CV%), ranked; one arm
    has none.

    Args:
        grid: means, a row a group and a column an arm.
        pairs: group -> the values of all its pairs.
        label: of the metric.
    """
    count = grid.count(axis=1)
    groups, arms = _short([*map(str, grid.index)]), [in_words(str(name)) for name in grid]
    cv = 100 * grid.std(axis=1, ddof=0) / grid.mean(axis=1)  # as in the audited studies
    cv.index = [f"{name} ({n} of {len(arms)})" for name, n in zip(groups, count, strict=True)]
    cv = cv[(count > 1).to_numpy()].sort_values()
    with styled():
        figure, parts = canvas(2, 2, max(8.4, len(groups)), max(6.4, 0.4 * len(groups)))
        means, boxes, heat, ranking = parts
        _draw_bars(means, grid)
        values = [pd.Series(pairs.get(str(name), [])).dropna() for name in grid.index]
        boxes.boxplot(values, positions=range(len(groups)))
        _cells(heat, grid, grid.map(small).replace("nan", ""), least=0)
        heat.set_yticks(range(len(groups)), groups, fontsize=8)
        for axes, names in ((means, groups), (boxes, groups), (heat, arms)):
            _name_ticks(axes, names, 60)
        ranking.barh(cv.index, cv, color=GREY)
        ranking.tick_params(axis="y", labelsize=8)
        ending = "" if len(cv) else ": one has none"
        titles = (f"{label}: means", "all pairs of seeds", "means, coloured from 0", f"CV over arms (%){ending}")
        for axes, title in zip(parts, titles, strict=True):
            axes.set_title(title, fontsize=9, loc="left")
        legend(figure, [means], 6)
    return keep(figure, grid.reset_index())
