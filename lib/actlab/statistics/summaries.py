"""Rank correlation of many resampled sets of points at once, and the coefficient of variation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics.estimate import Array, trials


def rank_correlation(points: Array) -> Array:
    """(R,) Spearman correlations of (2, R, n) points; NaN where one side is constant."""
    ranks = stats.rankdata(points, axis=-1)
    x, y = ranks - ranks.mean(axis=-1, keepdims=True)
    scale = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    return np.divide((x * y).sum(axis=-1), scale, out=np.full(scale.shape, math.nan), where=scale > 0)


def coefficient_of_variation(values: ArrayLike, ddof: int = 1) -> float:
    """Standard deviation over mean, in percent; ``ddof`` = 1: of a sample, 0: of a population (as the reference
    studies).

    Over the means of arms it is inflated by the noise of their trials and depends on the zero of the scale.

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
