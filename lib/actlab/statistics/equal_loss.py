"""Pair metrics (total variation, ...) of arms compared at equal validation loss: the registered procedure of the
confirmatory study, over tidy tables; below it the same over arrays.

A pair metric moves with the loss, and the loss at a fixed step with the speed of learning.
Here every arm of a group is read where its mean loss is the same.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from actlab.errors import BadInput, check_name, check_number
from actlab.statistics.contrasts import DIFFERENCE, Planned, cells_of, decided
from actlab.statistics.estimate import Array, column, summary
from actlab.statistics.groups import (
    Cell,
    Columns,
    cell_from,
    group_of,
    grouped,
    names_of,
    refuse_several,
    run_of,
    tidy,
)

Indices = NDArray[np.intp]


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
    by = group_of(by, factor)[:-1]
    curves, pairs = _tidied(curves, pairs, metric, [*by, factor])
    arms, status = arms_of(curves, pairs, metric, by, factor, exclude_above)
    every, (reference,) = grouped(curves, [*by, factor]), cell_from([reference])
    check_name(f"level of {factor}", reference, {cell[-1] for cell in every})
    values = dict(iter(_at_equal_loss(arms, share).groupby("cell", sort=False)))

    def difference(mine: Cell, theirs: Cell) -> list[Any]:
        if absent := {mine, theirs} - {*values}:
            why = "excluded" if all(status.get(cell) == "excluded" for cell in absent) else "missing"
            return [0, *[math.nan] * len(DIFFERENCE), why]
        estimate, baseline = (values[cell]["value"].to_numpy() for cell in (mine, theirs))
        n, *rest = summary(estimate - baseline)
        short = "not read" if n > 2 else "diverged" if {mine, theirs} & {*status} else "too few"
        why = short if math.isnan(rest[-1]) else "ok"
        return [n, baseline[0], estimate[0], *rest, values[mine]["loss"].iloc[0], why]

    cells = cells_of(every, reference, planned)
    rows = [[*cell, *difference(cell, (*cell[:-1], reference))] for cell in cells]
    table = pd.DataFrame(rows, columns=[*by, factor, *DIFFERENCE, "loss", "status"])
    return decided(table, planned, names_of(family), margin, "holm")


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
    by = group_of(by, factor)[:-1]
    curves, pairs = _tidied(curves, pairs, metric, [*by, factor])
    for choice in (across, equal_seeds):
        check_name("choice of across and equal_seeds", choice, (True, False))
    arms, _ = arms_of(curves, pairs, metric, by, factor, exclude_above)
    table = _at_equal_loss(arms, share, across, equal_seeds)
    cells = pd.DataFrame(table.pop("cell").tolist(), columns=[*by, factor])
    return pd.concat([cells, table], axis=1)


def _at_equal_loss(
    arms: Mapping[Cell, Curves], share: float, across: bool = False, equal_seeds: bool = False
) -> pd.DataFrame:
    """What ``at_equal_loss`` gives, with (*group, level) in the column ``cell``."""
    check_number("a share of the way up to the first loss", share)
    rows = []
    for group in dict.fromkeys(cell[:-1] for cell in arms):
        curves = {cell: arm for cell, arm in arms.items() if cell[:-1] == group}
        runs = shared_runs((arms if across else curves).values())
        labels = ["", *next(iter(curves.values())).labels[runs]]
        values, losses = at_level([*curves.values()], runs, share, equal_seeds)
        for label, of_arms, loss in zip(labels, values, losses, strict=True):
            rows += [[cell, label, value, loss] for cell, value in zip(curves, of_arms, strict=True)]
    return pd.DataFrame(rows, columns=["cell", "left_out", "value", "loss"])


def _tidied(curves: object, pairs: object, metric: str, arm: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables as they are read here, with what names an ``arm``."""
    of_curves, of_pairs = ("iteration", "val_loss"), ("iteration", metric)
    tables = tidy(curves, [*arm, "trial"], of_curves), tidy(pairs, [*arm, "first", "second"], of_pairs)
    for table, (_, name) in zip(tables, (of_curves, of_pairs), strict=True):
        if np.isinf(table[name]).any():
            raise BadInput(f"expected finite numbers, or NaN where there is none, got inf in {name}")
    return tables


def arms_of(
    curves: pd.DataFrame, pairs: pd.DataFrame, metric: str, by: Sequence[str], factor: str, highest: float | None
) -> tuple[dict[Cell, Curves], dict[Cell, str]]:
    """((*group, level) -> its training; (*group, level) -> *excluded*, or *diverged* where a run has no loss), of tidy
    tables."""
    if highest is not None:
        check_number("a loss above which arms are excluded", highest, most=math.inf)
    curves = curves.assign(trial=curves["trial"].map(run_of))
    first, second = pairs["first"].map(run_of), pairs["second"].map(run_of)
    kept = first <= second  # a pair is one, whichever of its runs comes first
    pairs = pairs.assign(first=first.where(kept, second), second=second.where(kept, first))
    labels = pd.Index(curves["trial"].unique()).sort_values()
    along = grouped(pairs, [*by, factor])
    arms: dict[Cell, Curves] = {}
    status: dict[Cell, str] = {}
    for cell, rows in grouped(curves, [*by, factor]).items():
        refuse_several(rows, len(rows[["iteration", "trial"]].drop_duplicates()), cell)
        losses = rows.pivot(index="iteration", columns="trial", values="val_loss")
        if highest is not None and not losses.iloc[-1].mean() < highest:
            status[cell] = "excluded"
        elif cell in along:
            known = along[cell][along[cell][["first", "second"]].isin(labels).all(axis=1)]
            refuse_several(known, len(known[["iteration", "first", "second"]].drop_duplicates()), cell)
            wide = known.pivot(index="iteration", columns=["first", "second"], values=metric)
            losses, wide = losses.align(wide, join="inner", axis=0)
            if losses.empty:
                raise BadInput(f"{' '.join(map(str, cell))}: the curves and the pairs share no evaluation")
            if losses.isna().any(axis=None):
                status[cell] = "diverged"
            i, j = (labels.get_indexer(wide.columns.get_level_values(side)) for side in ("first", "second"))
            matrix = np.full((len(wide), len(labels), len(labels)), math.nan)
            matrix[:, i, j] = matrix[:, j, i] = wide.to_numpy()
            arms[cell] = Curves(losses.reindex(columns=labels).to_numpy(), matrix, labels.to_numpy())
    return arms, status


@dataclass(frozen=True)
class Curves:
    """One arm's training: E evaluations in their order, M runs in an order that arms share; NaN: no such run."""

    losses: Array
    """(E, M) validation loss, nats; lower is better."""
    pairs: Array
    """(E, M, M) symmetric: the metric between two runs; lower is more reproducible; the diagonal is not read."""
    labels: NDArray[Any]
    """(M,) of the runs."""

    def means(self, runs: Indices) -> tuple[Array, Array]:
        """(E,) mean loss over these runs, and (E,) mean metric over their pairs."""
        i, j = np.triu_indices(len(runs), 1)
        return self.losses[:, runs].mean(axis=1), self.pairs[:, runs[i], runs[j]].mean(axis=1)

    def between_equals(self, runs: Indices, level: float) -> float:
        """The metric at a mean loss, of pairs of these runs whose own losses are equal: of a line through the pairs,
        metric against distance of the losses, its value at distance 0."""
        (i, j), losses = np.triu_indices(len(runs), 1), self.losses[:, runs]
        both = np.abs(losses[:, i] - losses[:, j]), self.pairs[:, runs[i], runs[j]]
        x, y = (interpolated(losses.mean(axis=1), values, level) for values in both)
        return float(y.mean() - np.cov(x, y)[0, 1] / x.var(ddof=1) * x.mean())


def shared_runs(arms: Iterable[Curves]) -> Indices:
    """The runs that every one of at least one arm has at every evaluation."""
    return np.flatnonzero(~np.isnan(np.vstack([arm.losses for arm in arms])).any(axis=0))


def at_level(
    arms: Sequence[Curves], runs: Indices, share: float = 0.0, equal_seeds: bool = False
) -> tuple[Array, Array]:
    """((1 + M, A) metric of each arm at the level, of these M runs and then without each of them; (1 + M,) the level);
    NaN for an arm that begins below it, or fewer than two runs. ``share``, ``equal_seeds``: as of
    ``at_equal_loss``."""
    values, levels = np.full((1 + len(runs), len(arms)), math.nan), np.full(1 + len(runs), math.nan)
    for row, kept in enumerate([runs, *(np.delete(runs, i) for i in range(len(runs)))]):
        if len(kept) > 1:
            means = [arm.means(kept) for arm in arms]
            last = max(losses[-1] for losses, _ in means)
            level = last + share * (min(losses[0] for losses, _ in means) - last) if share else last
            levels[row] = level
            values[row] = (
                [arm.between_equals(kept, level) for arm in arms]
                if equal_seeds
                else [interpolated(losses, metric, level) for losses, metric in means]
            )
    return values, levels


def interpolated(losses: Array, values: Array, level: float) -> Array:
    """The (E, ...) values where the (E,) losses first come down to a level; NaN: they begin below, or never do."""
    below = losses <= level
    if not below.any() or losses[0] < level:
        return np.full(values.shape[1:], math.nan)
    after = int(below.argmax())
    share = (level - losses[after]) / (losses[after - 1] - losses[after]) if after else 0.0
    return np.asarray(values[after] + share * (values[after - 1] - values[after]))


def at_loss(losses: ArrayLike, values: ArrayLike, loss: float) -> tuple[float, bool]:
    """What a training had where its loss first came down to ``loss``: (by linear interpolation, False); where none of
    its evaluations is so low (by a line through the last three, True: an extrapolation).

    Args:
        losses, values: (E,) each, at the evaluations in their order.
        loss: nats, below the first.
    """
    x, y = column(losses, "losses"), column(values, "values")
    check_number("a loss", loss)
    if len(x) != len(y):
        raise BadInput(f"expected a value for each loss, got {len(x)} losses and {len(y)} values")
    if (x <= loss).any():
        return float(interpolated(x, y, loss)), False
    if len(set(x[-3:])) < 2 or not np.isfinite(x[-3:]).all():  # no line goes through them
        return math.nan, True
    return float(np.polyval(np.polyfit(x[-3:], y[-3:], 1), loss)), True
