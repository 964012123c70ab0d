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


NO_SETTING = ("record", "setting", "seed", "trial", "iteration", "status", "weights_sha256", "first", "second")
"""Columns that tell no two arms apart, or only sum up those that do."""
RESULTS = {
    *("n", "estimate", "low", "high", "se", "df", "p", "reference", "difference", "status", "outcome", "left_out"),
    *("value", "loss", "p_holm", "p_equivalent", "p_equivalent_holm", "end", "equal_loss", "extrapolated"),
}
"""Columns of what is computed: no group or factor has such a name, or the one would hide the other."""


def run_of(run: object) -> str:
    """A run's name: ``42`` is one run, whether a column holds it as text or as a number.

    Raises:
        BadInput: something that names no single run: an empty cell, a list.
    """
    if isinstance(run, str):
        return run
    if isinstance(run, Iterable) or pd.isna(run):
        raise BadInput(f"expected the name of a run, got {brief(run)}")
    return str(int(run)) if isinstance(run, float | np.floating) and run.is_integer() else str(run)


def runs_of(network: object) -> frozenset[str]:
    """The runs in a network of a pair: a single one, or the members of an ensemble."""
    network = network.tolist() if isinstance(network, np.ndarray) else network
    members = [*network] if isinstance(network, tuple | list) else [network]
    if not members:
        raise BadInput("expected the names of runs, got an ensemble of none")
    return frozenset(map(run_of, members))


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
    names = [columns] if isinstance(columns, str) else [*columns] if isinstance(columns, Iterable) else [columns]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise BadInput(f"expected names of columns, each once, got {brief(columns)}")
    return names


def group_of(by: Columns, *factor: str) -> list[str]:
    """The columns that name an arm; ``BadInput`` where one has the name of a result."""
    names = names_of([*names_of(by), *factor])
    if taken := [name for name in names if name in RESULTS]:
        raise BadInput(f"{taken[0]} is a column of the result too: rename it in the table")
    return names


def refuse_several(rows: pd.DataFrame, expected: int, cell: Cell) -> None:
    """``BadInput`` where there are more rows than different runs or pairs: several arms are in one group."""
    if expected < len(rows):
        measured = {c for c in rows if pd.api.types.is_float_dtype(rows[c])} - {"learning_rate", "rate_factor"}
        settings = [c for c in rows if c not in (*NO_SETTING, *measured)]
        several = [c for c in settings if rows[c].nunique() > 1]
        raise BadInput(
            f"expected one row a run or pair in each group, got several of {name_of(cell)}: add a column to by, or "
            f"choose rows; columns that differ: {', '.join(several) or 'none'}"
        )


def members_of(rows: pd.DataFrame) -> tuple[list[frozenset[str]], set[Any]]:
    """(the independent runs that each row rests on: its seed, or the runs in both of its networks; what names the
    rows)."""
    if "seed" in rows and rows["seed"].notna().all():
        seeds = [frozenset([run_of(seed)]) for seed in rows["seed"]]
        return seeds, {*seeds}
    if "members" in rows:
        every = [runs_of(names) for names in rows["members"]]
        return every, {*every}
    for side in ("first", "second"):
        check_name("column", side, rows.columns)
    pairs = [(runs_of(first), runs_of(second)) for first, second in zip(rows["first"], rows["second"], strict=True)]
    return [first | second for first, second in pairs], {*map(frozenset, pairs)}


def name_of(cell: Cell) -> str:
    """A group and level for people."""
    return ", ".join(map(str, cell))
