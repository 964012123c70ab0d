"""What a figure draws, kept with it as rows of CSV, so that a page can offer the numbers below the picture."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from itertools import zip_longest
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from actlab.statistics.estimate import Estimate

Key = tuple[str, str, str]
"""Panel, place on the axis of names, series."""
Rows = Iterable[Mapping[str, Any]]
KEPT: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()


def keep(figure: Figure, rows: Rows) -> Figure:
    """The figure, with its rows kept; all rows have the same keys."""
    out, found = StringIO(), list(rows)
    writer = csv.DictWriter(out, list(found[0]) if found else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    KEPT[figure] = out.getvalue()
    return figure


def kept(figure: Figure) -> str:
    """What is kept of a figure; nothing for one that was drawn by hand."""
    return KEPT.get(figure, "")


def of_points(found: Mapping[Key, Estimate | None], singles: Mapping[Key, ArrayLike]) -> Rows:
    """A row an estimate, and a row a single value."""
    yield from ({**_place(key), **_numbers(estimate)} for key, estimate in found.items())
    yield from ({**_place(key), **_numbers(float(v))} for key, values in singles.items() for v in np.ravel(values))


def of_lines(found: Mapping[tuple[str, str], Any]) -> Rows:
    """A row a place of a line (``primitives.Line``)."""
    for (panel, series), one in found.items():
        for x, y, low, high in zip_longest(one.x, one.y, one.low or (), one.high or ()):
            yield {"panel": panel, "series": series, "x": x, "y": y, "y_low": low, "y_high": high}


def of_scatter(found: Mapping[tuple[str, str], Sequence[tuple[Estimate | float, Estimate | float]]]) -> Rows:
    """A row a mark."""
    for (panel, series), marks in found.items():
        yield from ({"panel": panel, "series": series, **_numbers(x, "x"), **_numbers(y, "y")} for x, y in marks)


def _place(key: Key) -> dict[str, Any]:
    return dict(zip(("panel", "place", "series"), key, strict=True))


def _numbers(value: Estimate | float | None, name: str = "value") -> dict[str, Any]:
    e = value if isinstance(value, Estimate) else None
    return {name: e.value if e else value, f"{name}_low": e and e.low, f"{name}_high": e and e.high, "n": e and e.n}
