"""What the best of k random draws is worth: the expected maximum over k with its interval, the published bootstrap that
fails, and measured coverage.

Report the expected best of k from many more than k draws, not the best of the k that were made: that is one draw of a
maximum, without a variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics.estimate import LEVEL, Array, Estimate, trials

Sample = TypeVar("Sample")


def best_of_k_curve(
    values: ArrayLike,
    ks: Iterable[int],
    generator: np.random.Generator,
    resamples: int = 2000,
    lower_is_better: bool = False,
) -> list[Estimate]:
    """Expected best of k draws without replacement for each k, sum_j v_(j) C(j-1, k-1) / C(B, k) (unbiased for k <= B,
    Tang et al. 2020, arXiv 2004.13705), with an approximate interval: the bootstrap-t (Efron 1979) with the jackknife's
    standard error.

    A plain percentile bootstrap repeats the same draws, which pulls its maxima down (measured, k = 8 of B = 20 normal
    scores: 76%, nominal 95%); here each resample is compared with its own truth, the V-statistic.  Measured for normal
    scores: 93 to 96% where k <= B / 10, 92 to 95% at B / 5, 91% at k = 8 of B = 20; for log-normal scores 87 to 93%.
    As k nears B the interval grows without bound, as it should: the sample then says next to nothing.

    Args:
        values: (B,) scores of B independent draws, B well above k; NaN where missing.
        ks: draws of which the best is kept, one estimate for each.
        generator: the only source of randomness; the same resamples serve every k.
        resamples: how many.
        lower_is_better: for losses: the expected minimum.

    Returns:
        One estimate per k, in the unit of ``values``, ``n`` = B; NaN where k > B, for nothing is extrapolated; no
        interval where k = B.

    Raises:
        BadInput: a k below 1, ``values`` not one-dimensional, or an infinite one.
    """
    sign = -1.0 if lower_is_better else 1.0
    ordered = np.sort(sign * trials(values))
    size = (resamples if len(ordered) > 1 else 0, len(ordered))
    resampled = np.sort(generator.choice(ordered, size=size), axis=1) if len(ordered) else np.empty(size)
    return [_bootstrap_t(ordered, resampled, k, sign) for k in ks]


def _bootstrap_t(ordered: Array, resampled: Array, k: int, sign: float) -> Estimate:
    """Expected best of k of (B,) sorted scores, from (R, B) sorted resamples of them: U - t* SE with t* = (U* - V) /
    SE*; the sign turned back."""
    count = len(ordered)
    weights = without_replacement(count, k)
    value, low, high = float(ordered @ weights) if count else math.nan, math.nan, math.nan
    error = standard_error(ordered[None], k)[0] if k < count else 0.0
    if error > 0:
        away, errors = resampled @ weights - ordered @ with_replacement(count, k), standard_error(resampled, k)
        ratios = np.divide(away, errors, out=np.copysign(np.full(len(away), math.inf), away), where=errors > 0)
        tails = np.quantile(ratios, [(1 + LEVEL) / 2, (1 - LEVEL) / 2], method="inverted_cdf")
        low, high = value - tails * error if np.isfinite(tails).all() else (math.nan, math.nan)
    low, high = sorted((sign * float(low), sign * float(high)))
    return Estimate(sign * value, low, high, count, LEVEL, f"bootstrap-t of the expected best of {k}")


def standard_error(ordered: Array, k: int) -> Array:
    """(R,) jackknife standard errors of the expected best of k of (R, B) sorted scores, k < B."""
    count = ordered.shape[-1]
    weights = without_replacement(count - 1, k)
    # Without score i, those below keep their rank and those above move down by one.
    below = np.pad(np.cumsum(ordered[:, :-1] * weights, axis=1), ((0, 0), (1, 0)))
    above = np.pad(np.cumsum((ordered[:, 1:] * weights)[:, ::-1], axis=1)[:, ::-1], ((0, 0), (0, 1)))
    left_out = below + above
    spread = ((left_out - left_out.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    rounding = (1e-12 * np.abs(ordered).max(axis=1)) ** 2
    return np.asarray(np.where(spread > rounding, np.sqrt((count - 1) / count * spread), 0.0))


def without_replacement(count: int, k: int) -> Array:
    """(B,) C(j-1, k-1) / C(B, k) for j = 1 .. B, by ratios from the top, so that no binomial overflows; NaN where k >
    B."""
    if k < 1:
        raise BadInput(f"expected a whole number of draws k >= 1, got {k}")
    if k > count:
        return np.full(count, math.nan)
    j = np.arange(count, 1, -1)
    return np.asarray((k / count * np.concatenate([[1.0], np.cumprod(np.maximum(j - k, 0) / (j - 1))]))[::-1])


def with_replacement(count: int, k: int) -> Array:
    """(B,) (j/B)^k - ((j-1)/B)^k for j = 1 .. B."""
    return np.asarray(np.diff((np.arange(count + 1) / count) ** k))


def bootstrap_maximum(values: ArrayLike, generator: np.random.Generator, resamples: int = 10_000) -> Estimate:
    """The published interval of the best of k values, kept to show that it fails: percentiles of the maxima of
    resamples of those k values.

    The upper limit is the sample's own maximum, which is in most resamples (75%, 68%, 66% of them at k = 2, 4, 8): the
    bootstrap is inconsistent for extremes (Bickel & Freedman 1981).  Measured coverage of E[best of k]: 40 to 48%,
    nominal 95%. Use ``best_of_k_curve`` with many more than k values.

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
    return Estimate(
        float(best.mean()), float(low), float(high), len(present), LEVEL, "published: bootstrap of the maximum"
    )


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
    return Estimate(inside / repeats, float(limits.low), float(limits.high), repeats, LEVEL, said)
