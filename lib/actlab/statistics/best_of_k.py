"""What the best of k random draws is worth: weights of its expected value."""

from __future__ import annotations

import numpy as np

from actlab.statistics.estimate import Array


def without_replacement(count: int, k: int) -> Array:
    """Weights of the expected best of k draws without replacement from B scores, worst first (unbiased, Tang et al.
    2020, arXiv 2004.13705).

    (B,) C(j-1, k-1) / C(B, k) for j = 1 .. B and 1 <= k <= B, by ratios from the top, so that no binomial overflows.
    """
    j = np.arange(count, 1, -1)
    return np.asarray((k / count * np.concatenate([[1.0], np.cumprod(np.maximum(j - k, 0) / (j - 1))]))[::-1])
