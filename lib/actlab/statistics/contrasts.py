"""The one comparison: differences from a reference within groups of a tidy table, over runs or over pairs of runs, with
intervals, p-values and Holm's correction. Tables in, tables out; no files.

Every statistic is a mean over rows.  Its interval leaves one run at a time out of everything that it reads (jackknife,
Tukey 1958; t with n - 1 degrees of freedom).  Where a row is a run this is the paired t test; where it is a pair of
runs the U-statistic's jackknife over runs (Arvesen 1969), with the coverage that ``means`` reports.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Hashable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from actlab.errors import BadInput, check_name
from actlab.statistics.estimate import LEVEL, NO_SPREAD, Array, Summary, summary
from actlab.statistics.samples import Cell, Columns, Sample, cell_from, group_of, grouped, samples_in
from actlab.statistics.significance import ALPHA, holm

Planned = int | Sequence[Cell] | None
SUMMARY = [*Summary._fields]
DIFFERENCE = ["n", "reference", "estimate", "difference", "low", "high", "se", "df", "p"]
NOT_MADE = ("missing", "excluded")
"""Status of a comparison that is not in its family, unless it was planned."""


def contrasts(
    table: pd.DataFrame,
    metric: str,
    by: Columns = ("model",),
    factor: str = "activation",
    reference: Hashable = "relu",
    planned: Planned = None,
    family: Columns = (),
    margin: float | None = None,
    correction: str | None = "holm",
    unpaired: bool = False,
) -> pd.DataFrame:
    """Subtract the reference level from each level of a factor, within each group, over the runs that both have.

    >>> import actlab
    >>> trials, pairs = actlab.load("repro-lite")
    >>> actlab.contrasts(pairs, "total_variation")[["model", "activation", "n", "difference"]].head(1).round(3)
        model activation  n  difference
    0  charlm       gelu  5      -0.017

    Args:
        table: a row a run (column ``seed``), an ensemble (``members``), or a pair of either (``first``, ``second``).
        metric: a numeric column, in any unit; NaN: no such value; the run or pair is left out.
        by: columns whose values make a group.
        factor: column whose levels are compared.
        reference: its level that the others are compared with.
        planned: how many comparisons a family was planned to have; those that are missing count as p = 1. Or the
            planned ones themselves, each ``(*group, level)``: exactly these are made, and one without runs is a row.
        family: columns whose every value has a family of its own; one family unless given.
        margin: the largest absolute difference that does not matter: adds ``p_equivalent`` and
            ``p_equivalent_holm`` (two one-sided tests, Schuirmann 1987), and ``outcome``: lower or higher (than the
            reference, significantly), else equivalent (significantly within the margin), else undecided.
        correction: ``holm`` (Holm 1979), or None for no column ``p_holm``.
        unpaired: levels that share fewer than two runs are compared by Welch's test (1947); ``n``: runs of both.

    Returns:
        A row a comparison, in the order of the table: the group and the level; ``n`` runs that both have; the mean of
        the ``reference`` and of the level (``estimate``) over these runs; ``difference`` (estimate - reference), its
        95% interval ``low``, ``high``, standard error ``se``, ``df``, two-sided ``p`` and ``p_holm``; ``status``: ok,
        too few (runs for an interval: 2, of pairs 3), no spread (all runs have one difference, so that there is no
        standard error and no p), diverged (too few because of runs without a value), missing (no such rows), unpaired.

    Raises:
        UnknownName: no such column, or no such level as the reference.
        BadInput: several rows of one run or pair, or rows of several studies, in a group; pairs, unpaired.
    """
    columns = group_of(by, factor)
    if unpaired and "seed" not in table:
        raise BadInput("expected a row a run (column seed) for unpaired comparisons, got rows of several runs")
    arms, (reference,) = samples_in(table, metric, columns), cell_from([reference])
    if arms:  # of nothing there are no differences
        check_name(f"level of {factor}", reference, {cell[-1] for cell in arms})
    rows = [
        [*cell, *_difference(arms.get((*cell[:-1], reference)), arms.get(cell), unpaired)]
        for cell in cells_of(arms, reference, planned)
    ]
    table = pd.DataFrame(rows, columns=[*columns, *DIFFERENCE, "status"])
    return decided(table, planned, group_of(family), margin, correction)


def means(table: pd.DataFrame, metric: str, by: Columns = ("model", "activation")) -> pd.DataFrame:
    """Average each group over its runs, or over its pairs of runs, with a 95% interval over *runs*: of single
    values Student's (1908), exact for normal ones; over pairs, whose mean is a U-statistic of order 2 (Hoeffding 1948),
    a t interval from a jackknife over runs.

    U_(-i) leaves run i out; variance = (n - 1) / n sum_i (U_(-i) - U)^2 (Arvesen 1969), with n - 1 degrees of freedom.
    The claim holds where runs are alike in kind and many inputs are averaged.  Measured, nominal 95%, at n = 3, 5, 10
    (6,000 repeats, Monte-Carlo error 0.3 to 0.6): 98, 97, 96% for distances over 20 inputs, 96, 96, 95% for run effects
    of 5%.  It fails where runs differ in kind: 93% for effects of 30%, 90 to 92% and 79 to 81% where their scales are
    lognormal with a standard deviation of 0.5 and 1, 82 to 86% for one squared difference; on a logarithmic scale
    (``log_limits``) these are 95, 92 to 94, 86 to 88, 92 to 98%.  Where one run in ten differs from the rest no
    interval helps (27, 42, 64%): look at the pairs.

    The intervals are symmetric on the value's own scale. Those of pairs that `actlab report` and `actlab measure` print
    have the same standard error on a logarithmic scale, on which no limit reaches 0.

    Args:
        table, metric, by: as of ``contrasts``.

    Returns:
        A row a group: ``n`` runs, ``estimate``, ``low``, ``high``, ``se``, ``df``.
    """
    by = group_of(by)
    rows = [[*cell, *summary(arm.without_one(arm.runs))[:-1]] for cell, arm in samples_in(table, metric, by).items()]
    return pd.DataFrame(rows, columns=[*by, *SUMMARY[:-1]])


def without_each(table: pd.DataFrame, metric: str, by: Columns = ("model", "activation")) -> pd.DataFrame:
    """Average each group over its runs or pairs, and again without each run: what ``jackknife`` takes, for anything
    that is computed of these means, such as their average over groups whose runs share their seeds.

    Args:
        table, metric, by: as of ``means``.

    Returns:
        A row a group and omission: the group, ``left_out`` (the run; empty where none is), ``value`` (unit of the
        metric; NaN where nothing is left).
    """
    by = group_of(by)
    rows = []
    for cell, arm in samples_in(table, metric, by).items():
        for left_out, value in zip(("", *arm.runs), arm.without_one(arm.runs), strict=True):
            rows.append([*cell, left_out, value])
    return pd.DataFrame(rows, columns=[*by, "left_out", "value"]).astype({"value": float})


def bound(table: pd.DataFrame) -> float:
    """Return the smallest X of which these contrasts show, at 95%, that every absolute difference lies below it: the
    largest ``|difference| + t(0.95, df) se`` (an intersection-union test, so not corrected); NaN where one has no
    interval."""
    reach = special.stdtrit(table["df"], LEVEL) * table["se"].where(table["se"] > 0)
    return float((table["difference"].abs() + reach).max(skipna=False))


def jackknife(values: ArrayLike) -> pd.Series:
    """Give an estimate its 95% interval, from any statistic computed of all n runs and again without each of them.

    Args:
        values: (1 + n,) first of all runs, then without one run each; NaN where that leaves too few.

    Returns:
        ``n``, ``estimate``, ``low``, ``high``, ``se`` = sqrt((n - 1) / n sum_i (U_(-i) - mean)^2), ``df`` = n - 1, and
        the two-sided ``p`` of 0 (t); no interval and no p below two runs, or where all values are one.
    """
    return pd.Series(summary(values), SUMMARY)


def _difference(reference: Sample | None, arm: Sample | None, unpaired: bool) -> list[Any]:
    if reference is None or arm is None:
        return [0, *[math.nan] * (len(DIFFERENCE) - 1), "missing"]
    shared = sorted({*arm.runs} & {*reference.runs})
    if unpaired and len(shared) < 2:
        return _welch(reference.values, arm.values)
    origin = float(np.mean(reference.values)) if shared else 0.0  # near both, for the digits of their difference
    both = reference.without_one(shared, origin), arm.without_one(shared, origin)
    return compared(*both, diverged=not (reference.complete and arm.complete), origin=origin)


def compared(reference: Array, values: Array, diverged: bool, origin: float = 0.0) -> list[Any]:
    """Return a comparison's numbers, as ``DIFFERENCE`` names them, and its status, from the (1 + n,) values of both
    sides, of all runs and without one each; ``diverged``: runs are missing since they diverged."""
    found = summary(values - reference, abs(reference[0] + origin))
    status = "ok"
    if found.se == 0:
        status = "no spread"
    elif math.isnan(found.p):
        status = "diverged" if diverged else "too few"
    return [found.n, reference[0] + origin, values[0] + origin, *found[1:], status]


def _welch(theirs: Array, mine: Array) -> list[Any]:
    from scipy import stats  # a second of processor time

    with warnings.catch_warnings(action="ignore"):  # of too few runs
        test = stats.ttest_ind(mine, theirs, equal_var=False)
        error = math.sqrt(sum(values.var(ddof=1) / len(values) for values in (mine, theirs)))
        values = [theirs.mean(), mine.mean(), mine.mean() - theirs.mean()]
        tested, status = [*test.confidence_interval(LEVEL), error, test.df, test.pvalue], "unpaired"
    if error <= NO_SPREAD * abs(values[0]):
        tested, status = [math.nan, math.nan, 0.0, math.nan, math.nan], "no spread"
    return [len(mine) + len(theirs), *values, *tested, status]


def cells_of(cells: Collection[Cell], reference: Hashable, planned: Planned) -> list[Cell]:
    """List the comparisons to make: those planned, or every level but the reference in every
    group."""
    if planned is None or isinstance(planned, int):
        groups = dict.fromkeys(cell[:-1] for cell in cells)
        levels = dict.fromkeys(cell[-1] for cell in cells)
        others = [level for level in levels if (level,) != (reference,)]  # in a tuple one NaN equals itself
        return [(*group, level) for group, level in product(groups, others)]
    return [cell_from(cell) for cell in planned]


def decided(
    table: pd.DataFrame, planned: Planned, family: Sequence[str], margin: float | None, correction: str | None
) -> pd.DataFrame:
    """Return the comparisons with Holm's p-values over their families, and with equivalence and outcome where there is
    a margin (``contrasts``)."""
    check_name("correction", correction, ("holm", None))
    if margin is not None:
        table = table.astype({"difference": float, "se": float, "df": float})  # also where there is no row
        distance, error = margin - table["difference"].abs(), table["se"].where(table["se"] > 0)
        table = table.assign(p_equivalent=special.stdtr(table["df"], -distance / error))
    families = [*grouped(table, family).values()] if family else [table]
    for name in ("p", "p_equivalent") if correction else ():
        if name in table:
            adjusted = pd.Series(math.nan, table.index)
            for part in families:
                adjusted[part.index] = holm(part[name], _size(part, planned))
            table.insert(table.columns.get_loc(name) + 1, f"{name}_holm", adjusted)
    if margin is not None:
        ending = "_holm" if correction else ""
        different, equivalent = (table[name + ending] < ALPHA for name in ("p", "p_equivalent"))
        side = np.where(table["difference"] < 0, "lower", "higher")
        table["outcome"] = np.select([different, equivalent], [side, "equivalent"], "undecided")
    return table[[*(name for name in table if name != "status"), "status"]]


def _size(family: pd.DataFrame, planned: Planned) -> int:
    """Count the comparisons of a family."""
    if planned is not None and not isinstance(planned, int):
        return len(family)
    made = (~family["status"].isin(NOT_MADE)).sum()
    return max(planned or 0, made)
