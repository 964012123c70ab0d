"""One number for scores of many trials or two arms: interquartile mean, probability of improvement, rank correlation, coefficient of variation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics.estimate import Array, Estimate, finite, percentile_interval, trials, vector


def interquartile_mean(values: ArrayLike) -> float:
    """Mean of the middle half: floor(n / 4) values are cut at each end (Agarwal et al. 2021, arXiv 2108.13264, as rliable does).

    With three trials of one task nothing is cut: it is the mean.

    Args:
        values: trials (and tasks), any shape, taken together; NaN where missing.

    Returns:
        The mean, in the unit of ``values``; NaN where there are none.
    """
    present = trials(np.ravel(values))
    return float(stats.trim_mean(present, 0.25)) if len(present) else math.nan


def interquartile_mean_interval(values: ArrayLike, generator: np.random.Generator, level: float = 0.95, resamples: int = 2000) -> Estimate:
    """``interquartile_mean`` with the percentile interval of a stratified bootstrap: trials are resampled within each task (rliable).

    Args:
        values: (trials, tasks) or (trials,), without NaN.
        generator: the only source of randomness.
        level: coverage claimed for many trials; short below about ten.
        resamples: how many.

    Returns:
        An estimate in the unit of ``values``; ``n`` counts the trials of a task; no interval below two.

    Raises:
        BadInput: NaN, an infinite value, or another shape.
    """
    array = np.asarray(values, dtype=np.float64)
    table = array[:, None] if array.ndim == 1 else array
    if table.ndim != 2 or np.isnan(finite(table)).any():
        raise BadInput(f"expected scores of shape (trials, tasks) without NaN, got shape {array.shape} with {np.isnan(array).sum()} NaN")
    n, method = len(table), "stratified bootstrap of the interquartile mean"
    if n < 2:
        return Estimate(interquartile_mean(table), math.nan, math.nan, n, level, method)
    chosen = generator.integers(n, size=(resamples, *table.shape))
    resampled = np.take_along_axis(table[None], chosen, axis=1).reshape(resamples, -1)
    low, high = percentile_interval(np.asarray(stats.trim_mean(resampled, 0.25, axis=1)), level)
    return Estimate(interquartile_mean(table), low, high, n, level, method)


def probability_of_improvement(a: ArrayLike, b: ArrayLike) -> float:
    """P(a trial of ``a`` scores above a trial of ``b``), ties 1/2, in [0, 1]: Mann-Whitney U / (n m) (Agarwal et al. 2021).

    Three against three trials know only ninths.  For losses, swap the arms.

    Args:
        a: (n,) scores, higher is better; NaN where missing.
        b: (m,) scores of the other arm.
    """
    first, second = trials(a), trials(b)
    if not len(first) or not len(second):
        return math.nan
    return float((np.sign(first[:, None] - second[None]) / 2 + 0.5).mean())


def probability_of_improvement_interval(
    a: ArrayLike, b: ArrayLike, generator: np.random.Generator, level: float = 0.95, resamples: int = 2000
) -> Estimate:
    """``probability_of_improvement`` with the percentile interval of a bootstrap of each arm's trials; ``n`` counts the trials of both.

    Two arms that are wholly apart give [1, 1] however few their trials: read it beside the floor of ``permutation_two_sample``.
    """
    first, second = trials(a), trials(b)
    n, value, method = len(first) + len(second), probability_of_improvement(first, second), "bootstrap within each arm"
    if min(len(first), len(second)) < 2:
        return Estimate(value, math.nan, math.nan, n, level, method)
    above = np.sign(first[:, None] - second[None]) / 2 + 0.5
    times = [generator.multinomial(len(arm), np.full(len(arm), 1 / len(arm)), size=resamples) / len(arm) for arm in (first, second)]
    low, high = percentile_interval(np.einsum("ri,ij,rj->r", times[0], above, times[1], optimize=True), level)
    return Estimate(value, low, high, n, level, method)


def spearman(x: ArrayLike, y: ArrayLike, generator: np.random.Generator, level: float = 0.95, resamples: int = 2000) -> Estimate:
    """Rank correlation in [-1, 1] (Spearman 1904; ties share the mean rank), with a percentile interval from resampling the points.

    Args:
        x: (n,) one number per independent unit (a trial, or an arm: points that share trials are not independent).
        y: (n,) the same units in the same order; a unit counts only where both are there.
        generator: the only source of randomness.
        level: coverage claimed for many points.
        resamples: how many.

    Returns:
        An estimate; NaN where one side is constant; no interval below four points.

    Raises:
        BadInput: lengths differ, or an infinite value.
    """
    first, second = vector(x), vector(y)
    if first.shape != second.shape:
        raise BadInput(f"expected as many x as y, got {len(first)} and {len(second)}")
    both = ~np.isnan(first) & ~np.isnan(second)
    points = np.stack([first[both], second[both]])
    n = points.shape[1]
    value = float(rank_correlation(points[:, None])[0]) if n > 1 else math.nan
    low, high = math.nan, math.nan
    if n > 3 and not math.isnan(value):
        low, high = percentile_interval(rank_correlation(points[:, generator.integers(n, size=(resamples, n))]), level)
    return Estimate(value, low, high, n, level, "bootstrap over points")


def rank_correlation(points: Array) -> Array:
    """(R,) Spearman correlations of (2, R, n) points; NaN where one side is constant."""
    ranks = stats.rankdata(points, axis=-1)
    x, y = ranks - ranks.mean(axis=-1, keepdims=True)
    scale = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    return np.divide((x * y).sum(axis=-1), scale, out=np.full(scale.shape, math.nan), where=scale > 0)


def coefficient_of_variation(values: ArrayLike, ddof: int = 1) -> float:
    """Standard deviation over mean, in percent; ``ddof`` = 1: of a sample, 0: of a population (as the reference studies).

    Over the means of arms it is inflated by the noise of their trials and depends on the zero of the scale: prefer ``variance_share``.

    Args:
        values: (n,) numbers on a scale with a true zero; NaN where missing.
        ddof: 0 or 1.

    Returns:
        A percentage; NaN below two values or where the mean is 0.

    Raises:
        BadInput: ``ddof`` neither 0 nor 1, or an infinite value.
    """
    if ddof not in (0, 1):
        raise BadInput(f"expected ddof 0 (population) or 1 (sample), got {ddof}")
    present = trials(values)
    if len(present) < 2 or present.mean() == 0:
        return math.nan
    return float(100 * present.std(ddof=ddof) / abs(present.mean()))
