"""What a figure draws, kept with it as rows of CSV, so that a page can offer the numbers below the picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd
from matplotlib.figure import Figure

KEPT: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()


def keep(figure: Figure, rows: Iterable[Mapping[str, Any]]) -> Figure:
    """The figure, with its rows kept; columns that are empty in all of them are left out."""
    table = pd.DataFrame(list(rows), dtype=object).dropna(axis=1, how="all")
    KEPT[figure] = table.to_csv(index=False, lineterminator="\n")
    return figure


def kept(figure: Figure) -> str:
    """What is kept of a figure; nothing for one that was drawn by hand."""
    return KEPT.get(figure, "")
