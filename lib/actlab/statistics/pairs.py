"""The algebra of pairwise values h_ij of M trials: averages over pairs, with all trials and with one left out.  No
intervals here.

A value may be one number, (M, M), or one number for each block of the evaluation text, (M, M, B).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from actlab.errors import BadInput
from actlab.statistics.estimate import Array, finite


def symmetric(matrix: ArrayLike) -> Array:
    """``matrix`` as (M, M) or (M, M, B) floats, symmetric in its first two axes; the diagonal is not read."""
    array = np.asarray(matrix, dtype=np.float64)
    if array.ndim not in (2, 3) or array.shape[0] != array.shape[1]:
        raise BadInput(f"expected pairwise values, shape (M, M) or (M, M, blocks), got shape {array.shape}")
    array = array.copy()
    array[np.diag_indices(len(array))] = 0.0
    if not np.allclose(finite(array), array.swapaxes(0, 1), rtol=1e-6, atol=1e-12, equal_nan=True):
        raise BadInput("expected a symmetric matrix of pairwise values, got one whose (i, j) and (j, i) differ")
    return array


def pair_values(matrix: ArrayLike) -> Array:
    """The trials that have a pair: ``matrix`` without the rows and columns of missing trials, its diagonal 0."""
    array = symmetric(matrix)
    missing = np.isnan(array)
    known = ~(missing if missing.ndim == 2 else missing.all(axis=2)) & ~np.eye(len(array), dtype=bool)
    keep = np.flatnonzero(known.any(axis=1))
    if missing[np.ix_(keep, keep)].any():
        raise BadInput(
            "expected NaN on the whole row and column of a missing trial, got NaN for a single pair of trials that have others"
        )
    return array[np.ix_(keep, keep)]


def pair_average(values: Array) -> float:
    """Mean over pairs i < j of a (M, M) matrix with a zero diagonal; NaN where there is no pair."""
    count = len(values)
    return float(values.sum() / (count * (count - 1))) if count > 1 else math.nan


def leave_one_out(values: Array) -> Array:
    """(M,) the mean over pairs without trial i, of a (M, M) matrix with a zero diagonal and M > 2."""
    count = len(values)
    return np.asarray((values.sum() - 2 * values.sum(axis=1)) / ((count - 1) * (count - 2)))


def jackknife_variance(left_out: Array) -> float:
    """(M - 1) / M sum_i (U_(-i) - mean)^2 of (M,) leave-one-out values (Tukey 1958)."""
    count = len(left_out)
    return float((count - 1) / count * ((left_out - left_out.mean()) ** 2).sum())
