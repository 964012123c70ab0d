"""The interval of any jackknife, a logarithmic one, and where there is none.  Of what: ``contrasts.py``."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Array = NDArray[np.float64]
LEVEL = 0.95
"""Coverage that every interval claims."""


NO_SPREAD = 1e-12
"""A standard error below this share of the values that it is of is one of rounding: all runs agree."""


class Summary(NamedTuple):
    """Of a statistic of ``n`` runs (``contrasts.jackknife`` says of each what it is)."""

    n: int
    estimate: float
    low: float
    high: float
    se: float
    df: float
    p: float


def summary(values: ArrayLike, size: float = 0.0) -> Summary:
    """Summarise any statistic of n runs, from its (1 + n,) values of all of them and then without one each. Where all
    agree (but for rounding of numbers of this ``size``) the standard error is 0, and there is neither interval nor
    p."""
    value, *rest = np.asarray(values, dtype=np.float64).tolist()
    left_out, n = np.array(rest), len(rest)
    error = math.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()) if n > 1 else math.nan
    if error <= NO_SPREAD * max(size, abs(value)):
        error = 0.0
    scale = error or math.nan  # where all agree there is no interval
    reach = float(special.stdtrit(n - 1, (1 + LEVEL) / 2)) * scale
    p = min(2 * float(special.stdtr(n - 1, -abs(value) / scale)), 1.0)
    return Summary(n, value, value - reach, value + reach, error, float(n - 1), p)


def log_limits(value: ArrayLike, low: ArrayLike, high: ArrayLike) -> tuple[Any, Any]:
    """Return the limits of what cannot be negative on a logarithmic scale: the same standard error, value / f to value
    x f.

    They never reach 0, and cover better where pairs scatter widely (``contrasts.means``). Differences keep theirs,
    and so does a value of 0.
    """
    middle = np.asarray(value, dtype=np.float64)
    above = middle > 0
    factor = np.exp(np.subtract(high, low) / 2 / np.where(above, middle, 1.0))
    return np.where(above, middle / factor, low)[()], np.where(above, middle * factor, high)[()]
