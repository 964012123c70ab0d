"""Published interval methods that do not cover what they claim, kept so that their failure can be shown.  Never use one
for a result of ours."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from actlab.statistics.estimate import Estimate, percentile_interval, trials


def bootstrap_maximum(
    values: ArrayLike, generator: np.random.Generator, level: float = 0.95, resamples: int = 10_000
) -> Estimate:
    """FOIL: percentile interval of the best of k values, from the maxima of resamples of those k values.

    The upper limit is the sample's own maximum, which is in most resamples (75%, 68%, 66% of them at k = 2, 4, 8): the
    bootstrap is inconsistent for extremes (Bickel & Freedman 1981).  Measured coverage of E[best of k]: 40 to 48%,
    nominal 95%. Use ``best_of_k_curve`` with many more than k values.

    Args:
        values: (k,) scores, higher is better; NaN where missing.
        generator: the only source of randomness.
        level: coverage claimed, wrongly.
        resamples: how many; 10,000 as published.

    Returns:
        An estimate whose value is the mean of the resampled maxima (biased low), in the unit of ``values``.

    Raises:
        BadInput: not one-dimensional, or an infinite value.
    """
    present = trials(values)
    method = "foil: bootstrap of the maximum"
    if len(present) < 2:
        return Estimate(
            float(present.mean()) if len(present) else math.nan, math.nan, math.nan, len(present), level, method
        )
    best = generator.choice(present, size=(resamples, len(present))).max(axis=1)
    low, high = percentile_interval(best, level)
    return Estimate(float(best.mean()), low, high, len(present), level, method)
