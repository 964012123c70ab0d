"""Pair metrics (total variation, ...) compared at equal validation loss: the registered procedure of the confirmatory
study, over tidy tables.

A pair metric moves with the loss, and the loss at a fixed step with the speed of learning.
Here every arm of a group is read where its mean loss is the same.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from actlab.statistics.contrasts import (
    FOUND,
    Cell,
    Columns,
    Planned,
    cells_of,
    decided,
    jackknife,
    known_name,
    names_of,
    refuse_several,
    told,
)
from actlab.statistics.equal_loss import Curves, interpolated, read_at


class _Course(NamedTuple):
    """One arm's training, at the E evaluations that both tables have."""

    losses: pd.DataFrame
    """(E, M): a column a run that has a loss at every evaluation."""
    pairs: pd.DataFrame
    """(E, P): the metric, a column a pair of runs."""
    complete: bool
    """Whether every run has a loss at every evaluation."""

    def of(self, runs: Sequence[Hashable]) -> Curves:
        """Of some runs, as arrays."""
        place = {run: i for i, run in enumerate(runs)}
        matrix = np.full((len(self.pairs), len(runs), len(runs)), math.nan)
        for (first, second), values in self.pairs.items():
            if first in place and second in place:
                i, j = place[first], place[second]
                matrix[:, i, j] = matrix[:, j, i] = values
        return Curves(self.losses[[*runs]].to_numpy(), matrix)


def equal_loss(
    curves: pd.DataFrame,
    pairs: pd.DataFrame,
    metric: str = "total_variation",
    by: Columns = ("model",),
    factor: str = "activation",
    reference: Hashable = "relu",
    share: float = 0.0,
    exclude_above: float | None = None,
    planned: Planned = None,
    family: Columns = (),
    margin: float | None = None,
) -> pd.DataFrame:
    """Each level of a factor minus the reference, each read at the loss that all of its group reach.

    >>> curves, along = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    >>> bigram = actlab.load_baselines("answer").loc["bigram", "val_loss"]
    >>> equal_loss(curves, along, exclude_above=bigram, margin=0.005)

    The loss, the reading and the runs: as of ``at_equal_loss``.  The jackknife leaves one run out of all arms of the
    group and repeats everything, the choice of the loss too (simulated: ``equal_loss.equal_loss``).

    Args:
        curves, pairs, metric, by, factor, share, exclude_above: as of ``at_equal_loss``.
        reference, planned, family, margin: as of ``contrasts``.

    Returns:
        A row a comparison, with the columns of ``contrasts`` and ``loss``, at which the group is read (nats);
        ``status`` may also be *excluded* (this arm or the reference is), or *not read* (the arm, or one of its
        jackknife's, begins below the loss).
    """
    by = names_of(by)
    arms, excluded = _courses(curves, pairs, metric, by, factor, exclude_above)
    every = dict.fromkeys(curves[[*by, factor]].itertuples(index=False, name=None))
    known_name(f"level of {factor}", reference, {cell[-1] for cell in every})
    read = dict(iter(_left_out(arms, share, False).groupby("cell", sort=False)))

    def difference(mine: Cell, theirs: Cell) -> list[Any]:
        if absent := {mine, theirs} - {*read}:
            word = "excluded" if absent <= excluded else "missing"
            return [0, *[math.nan] * len(FOUND), word]
        one, other = (read[cell]["value"].to_numpy() for cell in (mine, theirs))
        n, *rest = jackknife(one - other)
        whole = arms[mine].complete and arms[theirs].complete
        short = "not read" if n > 2 else "too few" if whole else "diverged"
        status = short if math.isnan(rest[-1]) else "ok"
        return [int(n), other[0], one[0], *rest, read[mine]["loss"].iloc[0], status]

    cells = cells_of(every, reference, planned)
    rows = [[*cell, *difference(cell, (*cell[:-1], reference))] for cell in cells]
    found = pd.DataFrame(rows, columns=[*by, factor, *FOUND, "loss", "status"])
    return decided(found, planned, names_of(family), margin, "holm")


def at_equal_loss(
    curves: pd.DataFrame,
    pairs: pd.DataFrame,
    metric: str = "total_variation",
    by: Columns = ("model",),
    factor: str = "activation",
    share: float = 0.0,
    exclude_above: float | None = None,
    across: bool = False,
    equal_seeds: bool = False,
) -> pd.DataFrame:
    """The mean over pairs of each arm at the loss that all arms of its group reach; and again without each run, for
    the ``jackknife`` of anything that is computed of these values.

    The loss: the highest of the arms' mean final losses.  An arm is read by linear interpolation of its mean over
    pairs, on its mean loss over runs, between the first evaluation at or below that loss and the one before.

    Args:
        curves: a row a run and evaluation: ``trial``, ``iteration``, ``val_loss`` (``load_curves``).
        pairs: a row a pair and evaluation: ``first``, ``second``, ``iteration`` and the metric (``load_pairs`` of
            *along*); only evaluations in both tables count.
        metric: column of ``pairs``.
        by: columns whose values make a group.
        factor: column whose levels are compared within a group.
        share: of the way from that loss (0) up to the lowest of the arms' mean first losses (1): another moment.
        exclude_above: arms whose mean final loss is not below it are left out (an arm that does not learn would set
            the loss): the loss of a table of bigrams, say.
        across: use the same runs in all groups, those that every arm has; else those that the group's arms have.
        equal_seeds: of pairs of runs whose own losses are equal there, and not only the arms' means (analysis of
            covariance: a line for each arm through its pairs, metric against distance of their losses).

    Returns:
        A row an arm and omission: the group, the level, ``left_out`` (the run; empty where none is), ``value``
        (unit of the metric; NaN for an arm that begins below the loss, or fewer than two runs) and ``loss`` (nats).
    """
    by = names_of(by)
    arms, _ = _courses(curves, pairs, metric, by, factor, exclude_above)
    found = _left_out(arms, share, across, equal_seeds)
    cells = pd.DataFrame(found["cell"].tolist(), columns=[*by, factor])
    return pd.concat([cells, found.drop(columns="cell")], axis=1)


def _left_out(arms: Mapping[Cell, _Course], share: float, across: bool, equal_seeds: bool = False) -> pd.DataFrame:
    """What ``at_equal_loss`` gives, with (*group, level) in the column ``cell``."""
    groups: dict[Cell, dict[Cell, _Course]] = {}
    for cell, course in arms.items():
        groups.setdefault(cell[:-1], {})[cell] = course
    rows = []
    for courses in groups.values():
        runs = _shared(arms.values() if across else courses.values())
        curves, every = {cell: course.of(runs) for cell, course in courses.items()}, np.arange(len(runs))
        for i, left_out in enumerate(("", *runs)):
            values, loss = read_at(curves, np.delete(every, i - 1) if i else every, share, equal_seeds)
            rows += [[cell, left_out, value, loss] for cell, value in zip(courses, values, strict=True)]
    return pd.DataFrame(rows, columns=["cell", "left_out", "value", "loss"])


def _courses(
    curves: pd.DataFrame, pairs: pd.DataFrame, metric: str, by: Sequence[str], factor: str, most: float | None
) -> tuple[dict[Cell, _Course], set[Cell]]:
    """((*group, level) -> its training; those that are left out)."""
    for table, names in ((curves, ("trial", "iteration", "val_loss")), (pairs, ("first", "iteration", metric))):
        for name in (*by, factor, *names):
            known_name("column", name, table.columns)
    along: dict[Any, pd.DataFrame] = dict(iter(pairs.groupby([*by, factor], sort=False, dropna=False)))
    found: dict[Cell, _Course] = {}
    excluded: set[Cell] = set()
    for cell, rows in curves.groupby([*by, factor], sort=False, dropna=False):
        refuse_several(rows, len(rows[["iteration", "trial"]].drop_duplicates()), told(cell))
        losses = rows.pivot(index="iteration", columns="trial", values="val_loss")
        if most is not None and not losses.iloc[-1].mean() < most:
            excluded.add(cell)
        elif cell in along:
            metrics = along[cell].pivot(index="iteration", columns=["first", "second"], values=metric)
            losses, metrics = losses.align(metrics, join="inner", axis=0)
            there = losses.notna().all()
            found[cell] = _Course(losses.loc[:, there], metrics, bool(there.all()))
    return found, excluded


def _shared(courses: Iterable[_Course]) -> list[Hashable]:
    """The runs that all of them have, in the order of the first."""
    first, *others = courses
    return [run for run in first.losses if all(run in course.losses for course in others)]


def at_loss(losses: ArrayLike, values: ArrayLike, loss: float) -> tuple[float, bool]:
    """What a training had where its loss first came down to ``loss``: (by linear interpolation, False); where none of
    its evaluations is so low (by a line through the last three, True: an extrapolation).

    Args:
        losses, values: (E,) each, at the evaluations in their order.
        loss: nats, below the first.
    """
    course, read = np.asarray(losses, dtype=float), np.asarray(values, dtype=float)
    if math.isnan(value := float(interpolated(course, read, loss))) and not (course <= loss).any():
        return float(np.polyval(np.polyfit(course[-3:], read[-3:], 1), loss)), True
    return value, False
