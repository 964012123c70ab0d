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


def run_of(run: object) -> str:
    """A run's name: ``42`` is one run, whether a column holds it as text or as a number.

    Raises:
        BadInput: something that names no single run: an empty cell, a list.
    """
    if isinstance(run, str):
        return run
    if isinstance(run, Iterable) or pd.isna(run):
        raise BadInput(f"expected the name of a run, got {brief(run)}")
    return str(int(run)) if isinstance(run, float) and run.is_integer() else str(run)


def runs_of(network: object) -> frozenset[str]:
    """The runs in a network of a pair: a single one, or the members of an ensemble."""
    members = [*network] if isinstance(network, tuple | list | np.ndarray) else [network]
    if not members:
        raise BadInput("expected the names of runs, got an ensemble of none")
    return frozenset(map(run_of, members))


def cell_from(values: Iterable[Any]) -> Cell:
    """Group and level by which rows are found; what is empty is one and the same NaN, which else equals nothing."""
    return tuple(math.nan if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in values)


def grouped(table: pd.DataFrame, columns: Sequence[str]) -> dict[Cell, pd.DataFrame]:
    """The rows of each group, in the order of the table."""
    return {cell_from(cell): rows for cell, rows in table.groupby([*columns], sort=False, dropna=False)}


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
    return table.reset_index(drop=True).assign(**{name: _doubles(table[name]) for name in numbers})


def _doubles(column: pd.Series) -> Any:
    kind = column.dtype
    if not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_complex_dtype(kind):
        raise BadInput(f"expected a column of numbers, got {column.name} of type {kind}")
    return column.to_numpy(dtype=np.float64, na_value=math.nan)


def check_number(what: str, value: object) -> None:
    """``BadInput`` where it is no finite number."""
    if not isinstance(value, int | float | np.number) or not math.isfinite(value):
        raise BadInput(f"expected {what}: a finite number, got {brief(value)}")


def names_of(columns: Columns) -> list[str]:
    """One or several, each once."""
    names = [columns] if isinstance(columns, str) else [*columns] if isinstance(columns, Iterable) else [columns]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise BadInput(f"expected names of columns, each once, got {brief(columns)}")
    return names
