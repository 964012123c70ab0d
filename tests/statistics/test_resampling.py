"""Resampled intervals of a mean over pairs, and the second level: blocks of text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics import pair_bootstrap, pair_mean, pair_mean_blocks
from actlab.statistics.resampling import satterthwaite


def matrix(trials: int, seed: int = 0) -> np.ndarray:
    points = np.random.default_rng(seed).normal(size=(trials, 4))
    return np.abs(points[:, None] - points[None]).mean(axis=-1)


def slow_bootstrap(values: np.ndarray, generator: np.random.Generator, resamples: int) -> np.ndarray:
    """The slow reference: resample trials, average the pairs whose trials differ."""
    means = []
    for _ in range(resamples):
        chosen = generator.integers(len(values), size=len(values))
        pairs = [values[i, j] for a, i in enumerate(chosen) for j in chosen[a + 1 :] if i != j]
        if pairs:
            means.append(np.mean(pairs))
    return np.array(means)


def test_bootstrap_agrees_with_the_slow_reference() -> None:
    values = matrix(5)
    found = pair_bootstrap(values, np.random.default_rng(0), resamples=20_000)
    slow = slow_bootstrap(values, np.random.default_rng(1), 4000)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), rel=0.03)


def test_self_pairs_are_dropped() -> None:
    """With every pair alike the resampled mean is that value, not (1 - 1/M) of it."""
    found = pair_bootstrap(1.0 - np.eye(5), np.random.default_rng(0))
    assert (found.value, found.low, found.high) == pytest.approx((1.0, 1.0, 1.0))


def test_the_seed_is_the_only_source_of_randomness() -> None:
    first, again, other = (pair_bootstrap(matrix(6), np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert first == again
    assert first.low != other.low


def test_blocks_widen_the_bootstrap() -> None:
    blocks = matrix(8)[:, :, None] * np.linspace(0.2, 1.8, 6)
    flat, full = (pair_bootstrap(values, np.random.default_rng(0)) for values in (blocks.mean(axis=2), blocks))
    assert full.value == pytest.approx(flat.value)
    assert full.high - full.low > 1.5 * (flat.high - flat.low)


def test_two_levels_add_their_variances() -> None:
    """Values w_ij + b_k: the variance is the jackknife's over trials plus that of the mean of b over blocks."""
    values, shifts = matrix(5), np.array([0.0, 0.3, -0.1, 0.2])
    trials, blocks = pair_mean(values), shifts.var(ddof=1) / 4
    variances = np.array([((trials.high - trials.value) / stats.t.ppf(0.975, 4)) ** 2, blocks])
    found = pair_mean_blocks(values[:, :, None] + shifts)
    quantile = stats.t.ppf(0.975, satterthwaite(variances, np.array([4, 3])))
    assert found.value == pytest.approx(trials.value + 0.1)
    assert found.high - found.value == pytest.approx(quantile * math.sqrt(variances.sum()))


def test_equal_blocks_leave_the_jackknife_over_trials() -> None:
    one, many = pair_mean(matrix(5)), pair_mean_blocks(np.repeat(matrix(5)[:, :, None], 3, axis=2))
    assert (many.value, many.low, many.high) == pytest.approx((one.value, one.low, one.high))


def test_too_little_data_gives_no_interval() -> None:
    generator = np.random.default_rng(0)
    for found in (
        pair_bootstrap(matrix(2), generator),
        pair_mean_blocks(matrix(5)[:, :, None]),
        pair_mean_blocks(matrix(2)[:, :, None].repeat(3, 2)),
    ):
        assert not math.isnan(found.value)
        assert math.isnan(found.low)
    assert math.isnan(pair_bootstrap(np.full((3, 3), math.nan), generator).value)
    with pytest.raises(BadInput, match="shape"):
        pair_mean_blocks(matrix(5))
    with pytest.raises(BadInput, match="at least one block"):
        pair_mean_blocks(np.empty((3, 3, 0)))
