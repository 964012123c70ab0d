"""Intervals of a mean over pairs of trials by resampling, and with a second level: blocks of the evaluation text."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from actlab.errors import BadInput
from actlab.statistics.estimate import Array, Estimate, percentile_interval, t_interval
from actlab.statistics.pairs import jackknife_variance, leave_one_out, pair_average, pair_values


def pair_bootstrap(matrix: ArrayLike, generator: np.random.Generator, level: float = 0.95, resamples: int = 2000) -> Estimate:
    """Mean over pairs of trials, with a percentile interval from resampling trials; pairs of a trial with itself are dropped.

    With them the resampled mean would be (1 - 1/M) of the mean, for PD(trial, itself) = 0.  At small M the interval is short (measured, nominal 95%:
    63% at M = 3, 91% at 5, 92% at 10, 93% at 20): prefer ``pair_mean`` below ten trials.

    Args:
        matrix: (M, M) as for ``pair_mean``, or (M, M, B) with B blocks of the evaluation text, which are then resampled too (independently of the
            trials: the pigeonhole bootstrap of Owen 2007).
        generator: the only source of randomness.
        level: coverage claimed for large M.
        resamples: how many.

    Returns:
        An estimate in the unit of ``matrix``; ``n`` counts trials; no interval below three.

    Raises:
        BadInput: as ``pair_mean``.
    """
    values = with_blocks(matrix)
    count, blocks = len(values), values.shape[2]
    value = pair_average(values.mean(axis=2)) if count else math.nan
    if count < 3:
        return Estimate(value, math.nan, math.nan, count, level, "bootstrap over trials")
    times = generator.multinomial(count, np.full(count, 1 / count), size=resamples).astype(np.float64)
    weights = generator.multinomial(blocks, np.full(blocks, 1 / blocks), size=resamples) / blocks
    total = np.einsum("ri,rj,ijb,rb->r", times, times, values, weights, optimize=True)
    pairs = count**2 - (times**2).sum(axis=1)
    low, high = percentile_interval(total[pairs > 0] / pairs[pairs > 0], level)
    return Estimate(value, low, high, count, level, "bootstrap over trials" if blocks == 1 else "bootstrap over trials and blocks")


def pair_mean_blocks(values: ArrayLike, level: float = 0.95) -> Estimate:
    """Mean over pairs of trials and blocks of the evaluation text: for a claim about other trials *and* other text.

    Variance = jackknife over trials + jackknife over blocks (two-way, their shared part counted twice, hence conservative), and a t interval with the
    degrees of freedom of Satterthwaite 1946.  For two arms with shared seeds and text, pass the difference of their arrays.

    Args:
        values: (M, M, B) symmetric in the first two axes; B >= 2 consecutive blocks of nearly equal length, long enough to be nearly independent.
            NaN on the whole row and column of a missing trial.
        level: coverage claimed: at least about this.

    Returns:
        An estimate in the unit of ``values``; ``n`` counts trials; no interval below three trials or two blocks.

    Raises:
        BadInput: not (M, M, B), or as ``pair_mean``.
    """
    if np.ndim(values) != 3:
        raise BadInput(f"expected values for pairs and blocks, shape (M, M, B), got shape {np.shape(values)}")
    array = with_blocks(values)
    count, blocks = len(array), array.shape[2]
    method = "jackknife over trials and blocks"
    if count < 3 or blocks < 2:
        return Estimate(pair_average(array.mean(axis=2)) if count else math.nan, math.nan, math.nan, count, level, method)
    by_block = array.sum(axis=(0, 1)) / (count * (count - 1))
    variances = np.array([jackknife_variance(leave_one_out(array.mean(axis=2))), float(by_block.var(ddof=1)) / blocks])
    degrees = satterthwaite(variances, np.array([count - 1, blocks - 1]))
    return t_interval(float(by_block.mean()), math.sqrt(variances.sum()), count, degrees, level, method)


def satterthwaite(variances: Array, degrees: Array) -> float:
    """Degrees of freedom of a sum of estimated variances, each with its own; those of the first where all are 0."""
    total = float(variances.sum())
    return total**2 / float((variances**2 / degrees).sum()) if total > 0 else float(degrees[0])


def with_blocks(matrix: ArrayLike) -> Array:
    """Pairwise values of the trials that have a pair as (M, M, B), with B = 1 where there are no blocks."""
    values = pair_values(matrix)
    if values.ndim == 2:
        values = values[:, :, None]
    if values.shape[2] == 0:
        raise BadInput("expected at least one block of the evaluation text, got none")
    return values
