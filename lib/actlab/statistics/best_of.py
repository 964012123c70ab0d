"""The expected best of some draws."""

from __future__ import annotations

import numpy as np
from scipy import stats

from actlab.statistics.estimate import Array


def without_replacement(count: int, k: int) -> Array:
    """Return the weights of the expected best of k draws without replacement from B scores, worst first (unbiased, Tang
    et al. 2020, arXiv 2004.13705).

    (B,) C(j-1, k-1) / C(B, k) for j = 1 .. B and 1 <= k <= B: the chance that all k lie among the j worst, by
    differences.
    """
    return np.diff(stats.hypergeom.pmf(k, count, np.arange(count + 1), k))
