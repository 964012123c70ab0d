"""Rows of a tidy table by their group, and runs by their names: what is empty or a number is named one way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from actlab.errors import BadInput, brief, check_name

Columns = str | Sequence[str]
Cell = tuple[Any, ...]


RESULTS = {
    *("n", "estimate", "low", "high", "se", "df", "p", "reference", "difference", "status", "outcome", "left_out"),
    *("value", "loss", "p_holm", "p_equivalent", "p_equivalent_holm", "end", "equal_loss", "extrapolated"),
}
"""Columns of what is computed: no group or factor has such a name, or the one would hide the other."""


def cell_from(values: Iterable[Any]) -> Cell:
    """Group and level by which rows are found; what is empty is one and the same NaN, which else equals nothing."""
    return tuple(math.nan if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in values)


def grouped(table: pd.DataFrame, columns: Sequence[str]) -> dict[Cell, pd.DataFrame]:
    """The rows of each group, in the order of the table."""
    try:
        return {cell_from(cell): rows for cell, rows in table.groupby([*columns], sort=False, dropna=False)}
    except TypeError as error:  # a list in a cell
        raise BadInput(f"expected names in {', '.join(columns)}: {error}") from None


def tidy(table: object, columns: Iterable[str], numbers: Iterable[str] = ()) -> pd.DataFrame:
    """A user's table as it is read here: without its index, whose names may be those of columns; with its ``numbers``
    in double precision, and NaN where there is none.

    Raises:
        UnknownName: one of these columns is not there.
        BadInput: no pandas table, a column that comes twice, or ``numbers`` that are none.
    """
    if not isinstance(table, pd.DataFrame):
        raise BadInput(f"expected a pandas table, got {brief(table)}")
    if twice := list(table.columns[table.columns.duplicated()]):
        raise BadInput(f"expected every column once, got {brief(twice[0])} more than once")
    numbers = [*numbers]
    for name in (*columns, *numbers):
        check_name("column", name, table.columns)
    found = table.reset_index(drop=True)
    for name in numbers:
        found[name] = _doubles(table[name])
    return found


def _doubles(column: pd.Series) -> Any:
    kind = column.dtype
    if not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_complex_dtype(kind):
        raise BadInput(f"expected a column of numbers, got {column.name} of type {kind}")
    return column.to_numpy(dtype=np.float64, na_value=math.nan)


def names_of(columns: Columns) -> list[str]:
    """One or several, each once."""
    several = isinstance(columns, Iterable) and not isinstance(columns, str)
    names: list[Any] = [*columns] if several else [columns]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise BadInput(f"expected names of columns, each once, got {brief(columns)}")
    return names


def group_of(by: Columns, *factor: str) -> list[str]:
    """The columns that name an arm; ``BadInput`` where one has the name of a result."""
    names = names_of([*names_of(by), *factor])
    if taken := [name for name in names if name in RESULTS]:
        raise BadInput(f"{taken[0]} is a column of the result too: rename it in the table")
    return names


def name_of(cell: Cell) -> str:
    """A group and level for people."""
    return ", ".join(map(str, cell))
