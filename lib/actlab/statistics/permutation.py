"""Exact permutation tests by scipy: F over all relabellings; and the floor of a sign-flip test, below which no p-value
can fall."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics.estimate import Array
from actlab.statistics.tests import Arms, Outcome, one_way_anova, present

EXACT_LIMIT = 100_000
"""More relabellings are not enumerated."""


def sign_flip_floor(n: int) -> float:
    """Smallest two-sided p-value of the exact sign-flip test (Fisher 1935) of n paired differences: 2 / 2^n."""
    return min(1.0, 2.0 ** (1 - n))


def relabellings(sizes: list[int]) -> int:
    """How many ways there are to deal n trials out to arms of these sizes: n! / prod n_i!."""
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))


def permutation_f(arms: Arms) -> Outcome:
    """Whether the arms differ: the F of one-way ANOVA over all ways to deal the values out to arms of these sizes.

    The floor is the share of relabellings that only swap arms of one size and so give the same F.

    Args:
        arms: name -> (n,) one value per trial, NaN where missing.

    Raises:
        BadInput: fewer than two arms, an infinite value, or more than ``EXACT_LIMIT`` relabellings.
    """
    groups = list(present(arms).values())
    sizes, method, observed = [len(group) for group in groups], "exact permutation of F", one_way_anova(arms).statistic
    if len(groups) < 2 or math.isnan(observed):
        return Outcome(math.nan, math.nan, sum(sizes), method, floor=1.0)
    if relabellings(sizes) > EXACT_LIMIT:
        raise BadInput(
            f"expected at most {EXACT_LIMIT:,} relabellings, got {relabellings(sizes):,} of arms of {sizes} trials"
        )
    mean = np.concatenate(groups).mean()

    def between(*dealt: Array, axis: int) -> Array:
        """Sum of squares between arms: F grows with it, the total being fixed."""
        return np.asarray(sum((group - mean).sum(axis=axis) ** 2 / group.shape[axis] for group in dealt))

    found = stats.permutation_test(groups, between, vectorized=True, n_resamples=np.inf, alternative="greater")
    same = math.prod(math.factorial(sizes.count(size)) for size in set(sizes))
    return Outcome(observed, float(found.pvalue), sum(sizes), method, floor=same / relabellings(sizes))
