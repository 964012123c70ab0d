"""Published interval methods that do not cover what they claim, kept so that their failure can be shown.  Never use one for a result of ours."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from actlab.errors import BadInput
from actlab.statistics.estimate import Estimate, percentile_interval, t_interval, trials
from actlab.statistics.pairs import pair_average, pair_values


def naive_pair_interval(matrix: ArrayLike, level: float = 0.95) -> Estimate:
    """FOIL: t interval of the mean over pairs that takes the M (M - 1) / 2 pairs for independent (s / sqrt(pairs)).

    Pairs share trials, so the variance is too small (about 1.8 times at M = 3, 2.7 at 5, 4.8 at 10) and coverage falls as trials are added
    (measured, nominal 95%: 91% at M = 3, 79% at 5, 63% at 10).  Use ``pair_mean``.

    Args:
        matrix: (M, M) as for ``pair_mean``.
        level: coverage claimed, wrongly.

    Returns:
        An estimate whose ``n`` counts the trials, not the pairs that the method counts; no interval below three trials.

    Raises:
        BadInput: as ``pair_mean``.
    """
    values = pair_values(matrix)
    if values.ndim != 2:
        raise BadInput(f"expected one value per pair, shape (M, M), got shape {np.shape(matrix)}")
    pairs = values[np.triu_indices(len(values), 1)]
    error = float(pairs.std(ddof=1)) / math.sqrt(len(pairs)) if len(pairs) > 1 else math.nan
    return t_interval(pair_average(values), error, len(values), len(pairs) - 1, level, "foil: t interval over pairs taken for independent")


def bootstrap_maximum(values: ArrayLike, generator: np.random.Generator, level: float = 0.95, resamples: int = 10_000) -> Estimate:
    """FOIL: percentile interval of the best of k values, from the maxima of resamples of those k values.

    The upper limit is the sample's own maximum, which is in most resamples (75%, 68%, 66% of them at k = 2, 4, 8): the bootstrap is inconsistent for
    extremes (Bickel & Freedman 1981).  Measured coverage of E[best of k]: 40 to 48%, nominal 95%.
    Use ``best_of_k_curve`` with many more than k values.

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
        return Estimate(float(present.mean()) if len(present) else math.nan, math.nan, math.nan, len(present), level, method)
    best = generator.choice(present, size=(resamples, len(present))).max(axis=1)
    low, high = percentile_interval(best, level)
    return Estimate(float(best.mean()), low, high, len(present), level, method)
