"""Rows of a tidy table by their group: what is empty is one group, and what is no number is NaN."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from actlab.errors import check_name

Columns = str | Sequence[str]
Cell = tuple[Any, ...]


def cell_from(values: Iterable[Any]) -> Cell:
    """Return the group and level by which rows are found; what is empty is one and the same NaN, which else equals
    nothing."""
    return tuple(math.nan if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in values)


def grouped(table: pd.DataFrame, columns: Sequence[str]) -> dict[Cell, pd.DataFrame]:
    """Return the rows of each group, in the order of the table."""
    return {cell_from(cell): rows for cell, rows in table.groupby([*columns], sort=False, dropna=False)}


def tidy(table: pd.DataFrame, columns: Iterable[str], numbers: Sequence[str] = ()) -> pd.DataFrame:
    """Return a user's table without its index, whose names may be those of columns, and with its ``numbers`` in double
    precision; ``UnknownName`` where one of these columns is not there."""
    for name in (*columns, *numbers):
        check_name("column", name, table.columns)
    doubles = {name: table[name].to_numpy(dtype=np.float64, na_value=math.nan) for name in numbers}
    return table.reset_index(drop=True).assign(**doubles)


def group_of(by: Columns, *factor: str) -> list[str]:
    """List the columns that name an arm."""
    return [*([by] if isinstance(by, str) else by), *factor]


def name_of(cell: Cell) -> str:
    """Write a group and level for people."""
    return ", ".join(map(str, cell))
