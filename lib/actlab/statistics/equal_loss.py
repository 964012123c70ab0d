"""Pair metrics (total variation, ...) of arms compared at equal validation loss: the registered procedure of the
confirmatory study, over tidy tables; below it the same over arrays.

A pair metric moves with the loss, and the loss at a fixed step with the speed of learning.
Here every arm of a group is read where its mean loss is the same.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from actlab.errors import BadInput, check_name
from actlab.statistics.contrasts import DIFFERENCE, Planned, cells_of, compared, decided
from actlab.statistics.estimate import Array
from actlab.statistics.samples import (
    SIDES,
    Cell,
    Columns,
    Sample,
    cell_from,
    group_of,
    grouped,
    name_of,
    omissions,
    refuse_several,
    run_of,
    tidy,
)


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
    """Subtract the reference from each level of a factor, each read at the loss that all of its group reach.

    >>> import actlab
    >>> curves, along = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    >>> bigram = actlab.load_baselines("answer").loc["bigram", "val_loss"]
    >>> found = actlab.equal_loss(curves, along, exclude_above=bigram, margin=0.005)
    >>> found[["model", "activation", "n", "outcome"]].head(2)
        model activation   n    outcome
    0  charlm       gelu  10  undecided
    1  charlm      swish  10  undecided

    The loss, the reading and the runs: as of ``at_equal_loss``.  The jackknife leaves one run out of all arms of the
    group and repeats everything, the choice of the loss too; t with M - 1 degrees of freedom.  Simulated (two arms of
    different speeds whose metric is one function of the loss, or two that are 0.01 apart; 6 and 11 evaluations; 1,000
    repeats each): false alarms 4 to 5% at three seeds, 3% at five, 5 to 6% at ten (nominal 5%, Monte-Carlo error 0.7),
    coverage of the difference 95 to 97%.  Six arms of ten shared seeds, 17 evaluations, 4,000 repeats: 2 to 5% at 5%,
    and 0.03 to 0.14% at 0.17%, Holm's first step of 30 (equal or different speeds, a steep metric, lognormal seed
    effects, seeds that leave a plateau at different steps).

    Args:
        curves, pairs, metric, by, factor, share, exclude_above: as of ``at_equal_loss``.
        reference, planned, family, margin: as of ``contrasts``.

    Returns:
        A row a comparison, with the columns of ``contrasts`` and ``loss``, at which the group is read (nats);
        ``status`` may also be *excluded* (this arm or the reference is), or *not read* (the arm, or one of its
        jackknife's, begins below the loss).
    """
    columns = group_of(by, factor)
    arms, status = arms_of(curves, pairs, metric, columns, exclude_above)
    (reference,) = cell_from([reference])
    check_name(f"level of {factor}", reference, {cell[-1] for cell in status})
    read = _read(arms, share)

    def difference(mine: Cell, theirs: Cell) -> list[Any]:
        if absent := {mine, theirs} - {*read}:
            why = "excluded" if all(status.get(cell) == "excluded" for cell in absent) else "missing"
            return [0, *[math.nan] * len(DIFFERENCE), why]
        diverged = "diverged" in (status[mine], status[theirs])
        n, *numbers, outcome = compared(read[theirs].values, read[mine].values, diverged)
        if n > 2 and outcome in ("diverged", "too few"):
            outcome = "not read"
        return [n, *numbers, read[mine].losses[0], outcome]

    cells = cells_of(status, reference, planned)
    rows = [[*cell, *difference(cell, (*cell[:-1], reference))] for cell in cells]
    table = pd.DataFrame(rows, columns=[*columns, *DIFFERENCE, "loss", "status"])
    return decided(table, planned, group_of(family), margin, "holm")


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
    """Average over pairs each arm at the loss that all arms of its group reach; and again without each run, for
    the ``jackknife`` of anything that is computed of these values.

    The loss: the highest of the arms' mean final losses.  An arm is read by linear interpolation of its mean over
    pairs, on its mean loss over runs, between the first evaluation at or below that loss and the one before.

    Args:
        curves: a row a run and evaluation: ``trial``, ``iteration``, ``val_loss`` (``load_curves``).
        pairs: a row a pair and evaluation: ``first``, ``second``, ``iteration`` and the metric (``load_pairs`` of
            *along*); only evaluations in both tables count, and pairs that have all of them.
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
    columns = group_of(by, factor)
    arms, _ = arms_of(curves, pairs, metric, columns, exclude_above)
    read = _read(arms, share, across, equal_seeds)
    rows = []
    for cell, found in read.items():
        for left_out, value, loss in zip(found.left_out, found.values, found.losses, strict=True):
            rows.append([*cell, left_out, value, loss])
    return pd.DataFrame(rows, columns=[*columns, "left_out", "value", "loss"])


class Read(NamedTuple):
    """An arm at the loss of its group, with all runs and then without each of them."""

    left_out: list[str]
    values: Array
    losses: Array


def _read(
    arms: Mapping[Cell, Curves], share: float, across: bool = False, equal_seeds: bool = False
) -> dict[Cell, Read]:
    """Map (*group, level) to what ``at_equal_loss`` says of it."""
    read = {}
    for group in dict.fromkeys(cell[:-1] for cell in arms):
        curves = {cell: arm for cell, arm in arms.items() if cell[:-1] == group}
        sharing = arms if across else curves
        runs = sorted(set.intersection(*(arm.runs for arm in sharing.values())))
        values, losses = at_level([*curves.values()], runs, share, equal_seeds)
        for cell, own in zip(curves, values.T, strict=True):
            read[cell] = Read(["", *runs], own, losses)
    return read


def arms_of(
    curves: pd.DataFrame, pairs: pd.DataFrame, metric: str, columns: Sequence[str], highest: float | None
) -> tuple[dict[Cell, Curves], dict[Cell, str]]:
    """Return ((*group, level) -> its training; (*group, level) -> ok, *missing* (without pairs), *excluded*, or
    *diverged* where a run has no loss)."""
    curves = tidy(curves, [*columns, "trial"], ("iteration", "val_loss"))
    pairs = tidy(pairs, [*columns, *SIDES], ("iteration", metric))
    along = grouped(pairs, columns)
    arms, status = dict[Cell, Curves](), dict[Cell, str]()
    for cell, rows in grouped(curves, columns).items():
        status[cell] = "missing"
        losses = _along_training(rows, ["trial"], "val_loss", cell)
        if highest is not None and not losses.iloc[:, -1].mean() < highest:
            status[cell] = "excluded"
        elif cell in along:
            losses, apart = losses.align(_along_training(along[cell], SIDES, metric, cell), join="inner", axis=1)
            apart = apart.dropna()
            if losses.empty:
                raise BadInput(f"{name_of(cell)}: the curves and the pairs share no evaluation")
            complete = losses.dropna()
            status[cell] = "ok" if len(complete) == len(losses) else "diverged"
            arms[cell] = Curves(_arm(complete), _arm(apart))
    return arms, status


def _along_training(rows: pd.DataFrame, names: list[str], metric: str, cell: Cell) -> pd.DataFrame:
    """Return a row a run or pair, a column an evaluation; a pair is one, whichever of its runs comes first,
    and a run with itself is none."""
    runs = [_runs_of(each) for each in rows[names].itertuples(index=False, name=None)]
    order = sorted({*runs})
    places = {each: place for place, each in enumerate(order)}
    row = [places[each] for each in runs]
    iterations, column = np.unique(rows["iteration"], return_inverse=True)
    refuse_several(rows, len({*zip(row, column, strict=True)}), cell)
    values = np.full((len(order), len(iterations)), math.nan)
    values[row, column] = rows[metric]
    different = [len({*each}) == len(each) for each in order]
    return pd.DataFrame(values, pd.Index(order, tupleize_cols=False), iterations)[different]


@cache
def _runs_of(each: tuple[Any, ...]) -> tuple[str, ...]:
    """Return the names of a row's runs in their order."""
    return tuple(sorted(map(run_of, each)))


def _arm(wide: pd.DataFrame) -> Sample:
    return Sample(wide.to_numpy(), [*map(frozenset, wide.index)])


@dataclass(frozen=True)
class Curves:
    """One arm's training, at E evaluations in their order."""

    losses: Sample
    """(runs, E) validation loss, nats; lower is better; of runs that have one everywhere."""
    pairs: Sample
    """(pairs, E) the metric between two runs; lower is more reproducible."""

    @property
    def runs(self) -> set[str]:
        """Return the runs that have a loss at every evaluation, and pairs."""
        return {*self.losses.runs} & {*self.pairs.runs}

    def between_equals(self, runs: Set[str], level: float) -> float:
        """Read the metric at a mean loss, of pairs of these runs whose own losses are equal: of a line through the
        pairs, metric against distance of the losses, its value at distance 0."""
        pairs = self.pairs.among(runs)
        two = [self.losses.among(members).values for members in pairs.members]
        distances = np.array([np.abs(first - second) for first, second in two])
        losses = self.losses.over(runs)
        x, y = interpolated(losses, distances.T, level), interpolated(losses, pairs.values.T, level)
        slope = np.cov(x, y)[0, 1] / x.var(ddof=1)
        return float(y.mean() - slope * x.mean())


def at_level(
    arms: Sequence[Curves], runs: Sequence[str], share: float = 0.0, equal_seeds: bool = False
) -> tuple[Array, Array]:
    """Return ((1 + M, A) metric of each arm at the level, of these M runs and then without each of them; (1 + M,) the
    level); NaN for an arm that begins below it, or fewer than two runs. ``share``, ``equal_seeds``: as of
    ``at_equal_loss``."""
    values = np.full((1 + len(runs), len(arms)), math.nan)
    levels = np.full(1 + len(runs), math.nan)
    for row, kept in enumerate(omissions(runs)):
        if len(kept) > 1:
            losses = [arm.losses.over(kept) for arm in arms]
            first, last = min(own[0] for own in losses), max(own[-1] for own in losses)
            level = last + share * (first - last)
            levels[row] = level
            values[row] = [
                arm.between_equals(kept, level) if equal_seeds else interpolated(own, arm.pairs.over(kept), level)
                for arm, own in zip(arms, losses, strict=True)
            ]
    return values, levels


def interpolated(losses: Array, values: Array, level: float) -> Array:
    """Return the (E, ...) values where the (E,) losses first come down to a level; NaN: they begin below, or never
    do."""
    below = losses <= level
    if not below.any() or losses[0] < level:
        return np.full(values.shape[1:], math.nan)
    after = int(np.argmax(below))
    share = (level - losses[after]) / (losses[after - 1] - losses[after]) if after else 0.0
    return np.asarray(values[after] + share * (values[after - 1] - values[after]))


def at_loss(losses: ArrayLike, values: ArrayLike, loss: float) -> tuple[float, bool]:
    """Read what a training had where its loss first came down to ``loss``: (by linear interpolation, False); where none
    of its evaluations is so low (by a line through the last three, True: an extrapolation).

    Args:
        losses, values: (E,) each, at the evaluations in their order.
        loss: nats, below the first.
    """
    x, y = np.asarray(losses, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if (x <= loss).any():
        return float(interpolated(x, y, loss)), False
    if len(set(x[-3:])) < 2 or not np.isfinite(x[-3:]).all():  # no line goes through them
        return math.nan, True
    return float(np.polyval(np.polyfit(x[-3:], y[-3:], 1), loss)), True
