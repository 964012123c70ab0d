"""Figures of tidy tables: a forest of intervals, lines along training, a heat map, bars; a panel a group, a colour a
level. Tables in, ``Figure`` out; nothing is estimated here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab.figures import primitives
from actlab.figures.primitives import Line
from actlab.figures.style import canvas, keep, look, styled
from actlab.statistics.estimate import Estimate


def forest(
    found: pd.DataFrame,
    label: str,
    value: str = "difference",
    panel: str = "model",
    row: str = "activation",
    series: str = "",
    filled: str = "",
    **look_of: Any,
) -> Figure:
    """A row a comparison or mean: its ``value`` with ``low`` and ``high`` (95%), in a panel for each ``panel``.

    Args:
        found: of ``contrasts``, ``equal_loss`` or ``means``.
        label: of the axis, with its unit.
        value, panel, row: columns; ``panel=""``: one panel.
        series: column whose levels have a colour and marker each; ``row``'s unless given.
        filled: column of truth values: marks without it are hollow (not significant, say).
        look_of: ``zero``, ``margin``, ``log``, ``columns``, ``height`` of ``primitives.points``.
    """
    estimates: dict[primitives.Key, Estimate | None] = {}
    hollow = []
    for one in found.to_dict("records"):
        key = str(one.get(panel, "")), str(one[row]), str(one[series or row])
        limits = one.get("low", np.nan), one.get("high", np.nan)
        estimates[key] = None if one.get("status") == "missing" else Estimate(one[value], *limits, 0)
        hollow += [key] if filled and not one[filled] else []
    return primitives.points(estimates, label, hollow=hollow, **look_of)


def curves(
    table: pd.DataFrame,
    x: str,
    y: str,
    labels: Sequence[str],
    panel: str = "model",
    series: str = "activation",
    **look_of: Any,
) -> Figure:
    """Lines of ``y`` against ``x``, a panel for each ``panel`` and a line for each ``series``, with the band between
    the columns ``low`` and ``high`` where the table has them.

    Args:
        labels: of the two axes, with their units.
        look_of: ``kind``, ``levels``, ``zero``, ``log``, ``columns``, ``height``, ``share`` of ``primitives.lines``.
    """
    found = {}
    for (where, name), rows in table.sort_values(x, kind="stable").groupby([panel, series], sort=False):
        limits = [rows[side].to_numpy() if side in rows else None for side in ("low", "high")]
        found[str(where), str(name)] = Line(rows[x].to_numpy(), rows[y].to_numpy(), *limits)
    return primitives.lines(found, *labels, **look_of)


def heat(table: pd.DataFrame, label: str, words: pd.DataFrame) -> Figure:
    """A heat map of a table of numbers, its index down and its columns across; ``words``: what each cell says."""
    values = table.to_numpy(dtype=float)
    down, across = values.shape
    with styled():
        figure, (axes,) = canvas(1, 1, 1.3 + across, 0.9 + 0.36 * down)
        image = axes.imshow(values, cmap="cividis", aspect="auto")
        axes.set_xticks(range(across), [*map(str, table.columns)])
        axes.set_yticks(range(down), [*map(str, table.index)])
        axes.grid(visible=False)
        middle = (np.nanmin(values) + np.nanmax(values)) / 2
        for (i, j), number in np.ndenumerate(values):
            ink = "black" if number > middle else "white"
            axes.text(j, i, words.iat[i, j], ha="center", va="center", color=ink, fontsize=9)
        figure.colorbar(image, ax=axes, label=label)
    return keep(figure, table.reset_index().to_dict("records"))


def bars(
    found: pd.DataFrame, label: str, value: str = "estimate", panel: str = "model", row: str = "activation"
) -> Figure:
    """A bar a level with its interval (``low``, ``high``), a panel for each ``panel``."""
    groups = [*found.groupby(panel, sort=False)]
    across = min(3, len(groups))
    down = -(-len(groups) // across)
    with styled():
        figure, every = canvas(down, across, primitives.WIDTH, 0.5 + 2.1 * down)
        for axes, (name, rows) in zip(every, groups, strict=False):
            reach = [rows[value] - rows["low"], rows["high"] - rows[value]] if "low" in rows else None
            axes.bar(rows[row], rows[value], yerr=reach, color=[look(str(each))[0] for each in rows[row]])
            axes.set_title(str(name), fontsize=9, loc="left")
            axes.tick_params(axis="x", rotation=60, labelsize=9)
            axes.grid(axis="x", visible=False)
        for axes in every[len(groups) :]:
            axes.set_axis_off()
        figure.supylabel(label, fontsize=10)
    return keep(figure, found.to_dict("records"))
