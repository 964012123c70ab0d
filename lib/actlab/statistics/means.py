"""How sure we are of a mean: t intervals over trials, of single values and of pairwise values (U-statistics).

Trials are independent; pairs of trials are not, for they share trials.  NaN marks a trial that is missing or diverged:
it is left out, ``n`` says how many remain, and nothing is put in its place (the result then speaks of the trials that
finished).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from actlab.errors import BadInput
from actlab.statistics.estimate import Estimate, t_interval, trials, vector
from actlab.statistics.pairs import jackknife_variance, leave_one_out, pair_average, pair_values, symmetric

__all__ = ["Estimate", "few_differ", "mean_interval", "pair_mean", "pair_mean_difference", "paired_difference"]


def mean_interval(values: ArrayLike, level: float = 0.95) -> Estimate:
    """Mean of one value per trial, and its t interval (Student 1908).

    Args:
        values: (n,) one number per independent trial, any unit and direction; NaN where the trial is missing.
        level: coverage claimed, in (0, 1); exact for normal values.

    Returns:
        An estimate in the unit of ``values``; no interval below two trials.

    Raises:
        BadInput: not one-dimensional, an infinite value, or a level outside (0, 1).
    """
    present = trials(values)
    n = len(present)
    error = float(present.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return t_interval(float(present.mean()) if n else math.nan, error, n, n - 1, level, "t interval over trials")


def paired_difference(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Estimate:
    """Mean of a - b over trials that share seeds, and its t interval: positive where ``a`` is larger.

    Args:
        a: (n,) one number per seed, NaN where missing.
        b: (n,) the same seeds in the same order; a seed counts only where both arms have it.
        level: coverage claimed, in (0, 1); exact where the differences are normal.

    Returns:
        An estimate in the unit of ``a``; ``n`` is the number of shared seeds.

    Raises:
        BadInput: lengths differ, an infinite value, or a level outside (0, 1).
    """
    first, second = vector(a), vector(b)
    if first.shape != second.shape:
        raise BadInput(
            f"expected two arms with the same seeds in the same order, got {len(first)} and {len(second)} values"
        )
    found = mean_interval(first - second, level)
    return Estimate(
        found.value, found.low, found.high, found.n, level, "t interval of the difference over shared seeds"
    )


def pair_mean(matrix: ArrayLike, level: float = 0.95) -> Estimate:
    """Mean over pairs of trials (a U-statistic of order 2, Hoeffding 1948), with a jackknife over *trials* (Arvesen
    1969).

    U_(-i) leaves trial i out; variance = (M - 1) / M sum_i (U_(-i) - U)^2, and a t interval with M - 1 degrees of
    freedom. The claim holds where trials are alike in kind and many inputs are averaged.  Measured, nominal 95%, at M =
    3, 5, 10 (6,000 repeats, Monte-Carlo error 0.3 to 0.6): 98, 97, 96% for distances over 20 inputs, 96, 96, 95% for
    trial effects of 5%.  It fails where trials differ in kind: 93% for effects of 30%, 90 to 92% and 79 to 81% where
    their scales are lognormal with a standard deviation of 0.5 and 1, 82 to 86% for one squared difference; on a
    logarithmic scale (``wording.above_zero``) these are 95, 92 to 94, 86 to 88, 92 to 98%.  Where one trial in ten
    differs from the rest no interval helps (27, 42, 64%): see ``few_differ``.

    Args:
        matrix: (M, M) symmetric, one value per pair (a prediction difference, say); the diagonal is not read; NaN on
        the whole row and column of a
            missing trial.
        level: coverage claimed, in (0, 1).

    Returns:
        An estimate in the unit of ``matrix``; ``n`` counts the trials that have a pair; no value below two of them, no
        interval below three.

    Raises:
        BadInput: not square or not symmetric, NaN in part of a row, an infinite value, or a level outside (0, 1).
    """
    values = pair_values(matrix)
    error = math.sqrt(jackknife_variance(leave_one_out(values))) if len(values) > 2 else math.nan
    return t_interval(pair_average(values), error, len(values), len(values) - 1, level, "jackknife over trials")


def few_differ(matrix: ArrayLike) -> bool:
    """Whether trials are too much alike for an interval: fewer different pair values than trials, or half of the pairs
    at 0.

    Simulated with a chance of one, three and five in ten that a trial differs at all, M = 5, this flags 99, 84 and 49%
    of the samples; intervals cover 41, 81 and 92% there, nominal 95%.
    """
    values = pair_values(matrix)
    pairs = np.sort(values[np.triu_indices(len(values), 1)])
    if len(values) < 3:
        return False
    different = 1 + np.count_nonzero(np.diff(pairs) > 1e-9 * pairs[-1])
    return bool(different < len(values) or np.mean(pairs == 0) >= 0.5) and bool(pairs[-1] > 0)


def pair_mean_difference(matrix_a: ArrayLike, matrix_b: ArrayLike, level: float = 0.95) -> Estimate:
    """Difference of two means over pairs, a - b, whose trials share seeds; the jackknife leaves seed i out of both
    arms.

    A U-statistic is linear in its kernel, so this is ``pair_mean`` of the difference of the matrices, with its claim.

    Args:
        matrix_a: (M, M) as for ``pair_mean``.
        matrix_b: (M, M) the same seeds in the same order; a seed counts only where both arms have it.
        level: coverage claimed, in (0, 1).

    Returns:
        An estimate in the unit of the matrices; ``n`` is the number of shared seeds.

    Raises:
        BadInput: as ``pair_mean``, or shapes that differ.
    """
    first, second = symmetric(matrix_a), symmetric(matrix_b)
    if first.shape != second.shape:
        raise BadInput(
            f"expected two arms with the same seeds in the same order, got matrices of {len(first)} and {len(second)} trials"
        )
    for single in (first, second):
        pair_values(single)
    found = pair_mean(first - second, level)
    return Estimate(found.value, found.low, found.high, found.n, level, "jackknife of the difference over shared seeds")
