"""The rows of a tidy table by their group, where what is empty is one group and what is no number is NaN; and samples:
the values of one level in one group, and the independent runs that each rests on, named as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
import pandas as pd

from actlab.errors import BadInput, check_name
from actlab.statistics.estimate import Array

Columns = str | Sequence[str]
Cell = tuple[Any, ...]
SIDES = ["first", "second"]
"""Columns of a pair's two networks."""
NO_SETTING = ("record", "setting", "seed", "trial", "iteration", "status", "weights_sha256", *SIDES)
"""Columns that tell no two arms apart, or only sum up those that do."""


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


@dataclass(frozen=True)
class Sample:
    """The rows of one level in one group: their values, and the runs that each rests on."""

    values: Array
    """(rows,), or (rows, E) along training."""
    members: Sequence[frozenset[str]]
    complete: bool = True
    """Whether no value was missing."""

    @cached_property
    def runs(self) -> list[str]:
        """List all runs that its rows rest on."""
        return sorted(frozenset[str]().union(*self.members))

    def among(self, runs: Set[str]) -> Sample:
        """Return its rows all of whose runs are among these."""
        inside = [members <= runs for members in self.members]
        return Sample(self.values[np.array(inside, dtype=bool)], [*compress(self.members, inside)])

    def over(self, runs: Set[str], origin: float = 0.0) -> Any:
        """Average its rows of these runs above an origin; NaN where there is none."""
        rows = self.among(runs).values
        return (rows - origin).mean(axis=0) if len(rows) else np.full(rows.shape[1:], math.nan)

    def without_one(self, runs: Iterable[str], origin: float = 0.0) -> Array:
        """Return (1 + n, ...): the mean over the rows of these n runs, then without each of them."""
        return np.array([self.over(kept, origin) for kept in omissions(runs)])


def omissions(runs: Iterable[str]) -> list[Set[str]]:
    """List all runs, then all without each of them."""
    every = dict.fromkeys(runs).keys()
    return [every, *(every - {run} for run in every)]


def samples_in(table: pd.DataFrame, metric: str, columns: Sequence[str]) -> dict[Cell, Sample]:
    """Map (*group, level) to its rows."""
    table = tidy(table, columns, (metric,))
    return {cell: sample_of(rows, metric, cell) for cell, rows in grouped(table, columns).items()}


def sample_of(rows: pd.DataFrame, metric: str, cell: Cell) -> Sample:
    """Make the sample of tidy rows; ``BadInput`` where they are of several arms."""
    values, networks = rows[metric].to_numpy(), networks_of(rows)
    refuse_several(rows, len({*networks}), cell)
    members = [frozenset[str]().union(*row) for row in networks]
    there = ~np.isnan(values)
    return Sample(values[there], [*compress(members, there)], bool(there.all()))


def run_of(run: object) -> str:
    """Return the name of a run: ``42`` is one run, whether a column holds it as text or as a number."""
    return str(int(run)) if isinstance(run, float | np.floating) and run.is_integer() else str(run)


def runs_of(network: object) -> frozenset[str]:
    """Return the runs in a network of a pair: a single one, or the members of an ensemble."""
    return frozenset(map(run_of, network if isinstance(network, tuple | list) else [network]))


def networks_of(rows: pd.DataFrame) -> list[frozenset[frozenset[str]]]:
    """Return the networks of each row, each as its runs: that of its seed, its ensemble, or the two of a pair."""
    columns = SIDES
    seeds = rows["seed"].notna() if "seed" in rows else pd.Series([False])
    if seeds.all():
        columns = ["seed"]
    elif seeds.any() and {*SIDES} <= {*rows}:  # 42 and 42-nudge, which are one run
        raise BadInput(
            "expected pairs of different seeds, or of a seed and itself changed, got both: choose rows of one kind"
        )
    elif "members" in rows:
        columns = ["members"]
    networks = [frozenset(map(runs_of, row)) for row in rows[columns].itertuples(index=False)]
    if len({len(row) for row in networks}) > 1:
        raise BadInput("expected pairs of different runs, got a run with itself among them: keep those that differ")
    return networks


def refuse_several(rows: pd.DataFrame, expected: int, cell: Cell) -> None:
    """Raise ``BadInput`` where there are more rows than different runs or pairs, or rows of several studies: several
    arms are in one group."""
    studies = rows["study"].nunique() if "study" in rows else 1
    if expected < len(rows) or studies > 1:
        measured = {name for name in rows if pd.api.types.is_float_dtype(rows[name])}
        no_setting = {*NO_SETTING, *measured} - {"learning_rate", "rate_factor"}
        several = [name for name in rows if name not in no_setting and rows[name].nunique() > 1]
        raise BadInput(
            f"expected one row a run or pair in each group, got several of {name_of(cell)}: add a column to by, or "
            f"choose rows; columns that differ: {', '.join(several) or 'none'}"
        )
