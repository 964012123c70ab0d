"""What the best of k random draws is worth: weights of its expected value, the published bootstrap that fails, and
measured coverage."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics.estimate import LEVEL, Array, Estimate, trials

Sample = TypeVar("Sample")


def without_replacement(count: int, k: int) -> Array:
    """Weights of the expected best of k draws without replacement from B scores, worst first (unbiased, Tang et al.
    2020, arXiv 2004.13705).

    (B,) C(j-1, k-1) / C(B, k) for j = 1 .. B, by ratios from the top, so that no binomial overflows; NaN where k > B.
    """
    if k < 1:
        raise BadInput(f"expected a whole number of draws k >= 1, got {k}")
    if k > count:
        return np.full(count, math.nan)
    j = np.arange(count, 1, -1)
    return np.asarray((k / count * np.concatenate([[1.0], np.cumprod(np.maximum(j - k, 0) / (j - 1))]))[::-1])


def bootstrap_maximum(values: ArrayLike, generator: np.random.Generator, resamples: int = 10_000) -> Estimate:
    """The published interval of the best of k values, kept to show that it fails: percentiles of the maxima of
    resamples of those k values.

    The upper limit is the sample's own maximum, which is in most resamples (75%, 68%, 66% of them at k = 2, 4, 8): the
    bootstrap is inconsistent for extremes (Bickel & Freedman 1981).  Measured coverage of E[best of k]: 40 to 48%,
    nominal 95%.

    Args:
        values: (k,) scores, higher is better, k > 1.
        generator: the only source of randomness.
        resamples: how many; 10,000 as published.

    Returns:
        An estimate whose value is the mean of the resampled maxima (biased low), in the unit of ``values``.
    """
    present = trials(values)
    best = generator.choice(present, size=(resamples, len(present))).max(axis=1)
    low, high = np.quantile(best, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(best.mean()), float(low), float(high), len(present), "published: bootstrap of the maximum")


def interval_coverage(
    draw: Callable[[np.random.Generator], Sample],
    method: Callable[[Sample], Estimate],
    truth: float,
    generator: np.random.Generator,
    repeats: int = 1000,
) -> Estimate:
    """Share of simulated samples whose interval holds the truth, in [0, 1], with its exact binomial interval (Clopper &
    Pearson 1934).

    A sample without an interval counts as not covered: a method cannot gain by silence.

    Args:
        draw: one sample from a generator.
        method: sample -> estimate with the interval under test.
        truth: the number that the intervals claim to hold.
        generator: the only source of randomness.
        repeats: how many samples, above 0.
    """
    estimates = (method(draw(generator)) for _ in range(repeats))
    inside = sum(bool(found.low <= truth <= found.high) for found in estimates)
    limits = stats.binomtest(inside, repeats).proportion_ci(LEVEL)
    said = "share of simulated intervals that hold the truth"
    return Estimate(inside / repeats, float(limits.low), float(limits.high), repeats, said)
