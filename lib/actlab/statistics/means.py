"""Means with intervals over trials: of single values (t), of pairwise values (U-statistics, jackknife), rank
correlation, the expected best of some draws.

Trials are independent; pairs of trials are not, for they share trials.  NaN marks a trial that is missing or diverged:
it is left out, ``n`` says how many remain, and nothing is put in its place (the result then speaks of the trials that
finished).
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from actlab.statistics.estimate import Array, Estimate, finite, t_interval


def mean_interval(values: ArrayLike) -> Estimate:
    """Mean of one value per trial, and its 95% t interval (Student 1908), exact for normal values.

    Args:
        values: (n,) one number per independent trial, any unit and direction; NaN where the trial is missing.

    Returns:
        An estimate in the unit of ``values``; no interval below two trials.

    Raises:
        BadInput: an infinite value.
    """
    array = finite(values)
    present = array[~np.isnan(array)]
    n = len(present)
    error = float(present.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return t_interval(float(present.mean()) if n else math.nan, error, n)


def pair_mean(matrix: ArrayLike) -> Estimate:
    """Mean over pairs of trials (a U-statistic of order 2, Hoeffding 1948), with a jackknife over *trials* (Arvesen
    1969).

    U_(-i) leaves trial i out; variance = (M - 1) / M sum_i (U_(-i) - U)^2, and a t interval with M - 1 degrees of
    freedom. The claim holds where trials are alike in kind and many inputs are averaged.  Measured, nominal 95%, at M =
    3, 5, 10 (6,000 repeats, Monte-Carlo error 0.3 to 0.6): 98, 97, 96% for distances over 20 inputs, 96, 96, 95% for
    trial effects of 5%.  It fails where trials differ in kind: 93% for effects of 30%, 90 to 92% and 79 to 81% where
    their scales are lognormal with a standard deviation of 0.5 and 1, 82 to 86% for one squared difference; on a
    logarithmic scale (``log_limits``) these are 95, 92 to 94, 86 to 88, 92 to 98%.  Where one trial in ten
    differs from the rest no interval helps (27, 42, 64%): see ``estimate.few_differ``.

    A U-statistic is linear in its kernel: of arms that share seeds the difference of the matrices has the difference
    of the means, and the jackknife leaves a seed out of both.

    Args:
        matrix: (M, M) symmetric, one value per pair (a prediction difference, say); the diagonal is not read; NaN on
            the whole row and column of a missing trial.

    Returns:
        An estimate in the unit of ``matrix``; ``n`` counts the trials that have a pair; no value below two of them, no
        interval below three.

    Raises:
        BadInput: an infinite value.
    """
    array = finite(matrix)
    np.fill_diagonal(array, math.nan)
    present = np.flatnonzero(~np.isnan(array).all(axis=1))
    np.fill_diagonal(array, 0.0)
    values = array[np.ix_(present, present)]
    n, total = len(values), values.sum()
    with np.errstate(invalid="ignore"):  # 0 / 0: there is no pair, or none without a trial
        left_out = (total - 2 * values.sum(axis=1)) / ((n - 1) * (n - 2))
        return jackknifed([total / (n * (n - 1)), *left_out])


def jackknifed(values: ArrayLike) -> Estimate:
    """A statistic with a t interval of the standard error sqrt((M - 1) / M sum_i (U_(-i) - mean)^2) (Tukey 1958).

    Args:
        values: (1 + M,) of all M trials, then without one trial each; no interval below three, or where one is NaN.
    """
    value, *rest = np.asarray(values, dtype=np.float64)
    left_out, n = np.array(rest), len(rest)
    error = math.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()) if n > 2 else math.nan
    return t_interval(float(value), error, n)


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Rank correlation of (n,) values with others; NaN where one side is constant."""
    with warnings.catch_warnings(action="ignore"):  # of the constant side
        return float(stats.spearmanr(x, y).statistic)


def without_replacement(count: int, k: int) -> Array:
    """Weights of the expected best of k draws without replacement from B scores, worst first (unbiased, Tang et al.
    2020, arXiv 2004.13705).

    (B,) C(j-1, k-1) / C(B, k) for j = 1 .. B and 1 <= k <= B: the chance that all k lie among the j worst, by
    differences.
    """
    return np.diff(stats.hypergeom.pmf(k, count, np.arange(count + 1), k))
