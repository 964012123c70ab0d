"""Tests between arms: Holm's correction over a family, its level; the power of t tests before any run."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from actlab.statistics.estimate import Array

ALPHA = 0.05
"""Of every test, adjusted; the only one that a plan may name."""
POWER = 0.8
"""What "with power" means."""


def holm(p_values: ArrayLike, planned: int = 0) -> Array:
    """Adjust p-values, (k,) in the order given: running maximum of min(1, (k - i + 1) p_(i)) (Holm 1979).

    Compare with alpha: the chance of any false rejection stays below it, however the tests depend on one another.
    NaN (a test that could not be made) stays NaN and does not count.

    Args:
        p_values: (k,) of the tests that were made.
        planned: how many tests the plan lists; those that are missing count as p = 1, so that a part of the family is
            judged no more mildly than the whole.
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full_like(values, np.nan)
    order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]
    factors = max(float(planned), len(order)) - np.arange(len(order))
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factors * values[order]))
    return adjusted


def detectable_paired(n: int, alpha: float) -> float:
    """Return the smallest mean difference that n shared seeds, at least 2, show with power, in standard deviations of
    the differences (dz). ``alpha``: of k comparisons under Holm the first step is at 5% / k."""
    from scipy import stats  # a second of processor time

    return math.sqrt(special.ncfdtrinc(1, n - 1, 1 - POWER, stats.f.isf(alpha, 1, n - 1)) / n)
