"""The share of variance between arms: the textbook formula, and its coverage."""

import math

import numpy as np
import pytest

from actlab.statistics.variance import block_share

CHARLM = np.array([[1.55377, 1.55269, 1.56011], [1.55847, 1.52676, 1.57674], [1.47377, 1.51979, 1.49850]]).T
"""Final losses of the reference's CharLM at full scale: three seeds, relu, gelu, swish."""


def test_block_share_by_hand():
    """Omega squared of the two-way model (Hays 1963) from the mean squares: 0.000625 between arms, 0 between seeds,
    0.000484 for the rest; the interval around it and the same at each call."""
    found = block_share(np.vstack([CHARLM, [1.5, math.nan, 1.5]]), np.random.default_rng(0))
    assert (found.value, found.n) == (pytest.approx(0.563410, abs=1e-6), 3)
    assert 0 <= found.low < found.value < found.high < 1
    assert found == block_share(CHARLM, np.random.default_rng(0))


def test_block_share_of_arms_that_do_not_differ_and_of_too_little():
    noise = np.random.default_rng(1).normal(size=(4, 1)) + np.array([[0, 1.0], [1, 0], [0, 1], [1, 0]])
    same = block_share(noise, np.random.default_rng(0))
    assert (same.value, same.low) == (0, 0)
    for too_little in ([[1.0, 2.0]], [[1.0], [2.0]], [[1.0, 1.0], [1.0, 1.0]]):
        assert math.isnan(block_share(too_little, np.random.default_rng(0)).value)


def test_block_share_covers_where_arms_share_seeds(monkeypatch):
    """Five arms, three seeds, a correlation of 0.8 by seed, a share of 0.8: 96% measured (one-way intervals: 80%)."""
    monkeypatch.setattr("actlab.statistics.variance.DRAWS", 200)
    generator, effects, repeats = np.random.default_rng(0), np.array([-1, -0.5, 0, 0.2, 1.3]), 250
    effects = (effects - effects.mean()) / effects.std() * 2

    def draw():
        return effects + 0.8**0.5 * generator.normal(size=(3, 1)) + 0.2**0.5 * generator.normal(size=(3, 5))

    found = [block_share(draw(), generator) for _ in range(repeats)]
    assert np.mean([e.low <= 0.8 <= e.high for e in found]) > 0.95 - 3 * (0.95 * 0.05 / repeats) ** 0.5
