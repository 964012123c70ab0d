"""Rows of a tidy table by their group, and runs by their names: what is empty or a number is named one way."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import pandas as pd

from actlab.errors import BadInput, brief

Columns = str | Sequence[str]
Cell = tuple[Any, ...]


def run_of(run: Hashable) -> str:
    """A run's name: ``42`` is one run, whether a column holds it as text or as a number."""
    return str(int(run)) if isinstance(run, float) and run.is_integer() else str(run)


def cell_from(values: Iterable[Any]) -> Cell:
    """Group and level by which rows are found; what is empty is one and the same NaN, which else equals nothing."""
    return tuple(math.nan if isinstance(value, float) and math.isnan(value) else value for value in values)


def grouped(table: pd.DataFrame, columns: Sequence[str]) -> dict[Cell, pd.DataFrame]:
    """The rows of each group, in the order of the table."""
    return {cell_from(cell): rows for cell, rows in table.groupby([*columns], sort=False, dropna=False)}


def check_numeric(table: pd.DataFrame, name: str) -> None:
    """``BadInput`` where a column holds no numbers."""
    kind = table[name].dtype
    if not pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_complex_dtype(kind):
        raise BadInput(f"expected a column of numbers, got {name} of type {kind}")


def names_of(columns: Columns) -> list[str]:
    """One or several, each once."""
    names = [columns] if isinstance(columns, str) else [*columns] if isinstance(columns, Iterable) else [columns]
    if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise BadInput(f"expected names of columns, each once, got {brief(columns)}")
    return names
