"""Shares of variance: a published table, textbook formulas, and designs whose shares are known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actlab.errors import BadInput
from actlab.statistics import Estimate, crossed_shares, omega_squared, one_way_anova, variance_share
from actlab.statistics.crossed import components, mean_squares

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
"""Table 2 of Shrout & Fleiss 1979: six targets, four ratings each; their ICC(1, 1) is .17."""
ARMS = {str(i): row for i, row in enumerate(SHROUT_FLEISS)}


def test_variance_share_of_the_published_table() -> None:
    found = variance_share(ARMS)
    assert (found.value, found.low, found.high) == pytest.approx((0.17, -0.13, 0.72), abs=0.005)
    assert found.n == 24


def test_variance_share_of_unequal_arms_uses_the_usual_mean_size() -> None:
    """n0 = (N - sum n_i^2 / N) / (arms - 1), here (5 - 13/5) / 1 = 2.4."""
    arms = {"a": [1.0, 2.0], "b": [4.0, 5.0, 7.0]}
    ratio = one_way_anova(arms).statistic
    assert variance_share(arms).value == pytest.approx((ratio - 1) / (ratio + 1.4))


def test_omega_squared_by_its_formula() -> None:
    test = one_way_anova(ARMS)
    expected = 5 * (test.statistic - 1) / (5 * (test.statistic - 1) + 24)
    found = omega_squared(ARMS)
    assert found.value == pytest.approx(expected)
    assert 0 <= found.low < found.value < found.high < 1


def test_shares_of_arms_that_do_not_differ_are_near_zero_and_may_be_negative() -> None:
    arms = {"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}
    assert omega_squared(arms).value < 0
    assert variance_share(arms).value < 0
    assert omega_squared(arms).low == 0.0


@pytest.mark.parametrize("share", [omega_squared, variance_share])
def test_shares_of_trials_that_agree_exactly(share: Callable[..., Estimate]) -> None:
    assert share({"a": [0.1] * 3, "b": [0.3] * 3}).value == 1.0
    assert math.isnan(share({"a": [0.1] * 3, "b": [0.1] * 3}).value)
    assert math.isnan(share({"a": [0.1], "b": [0.3]}).value)


def design(rows: float, columns: float, cells: float, seed: float, trial: float, seeds: int = 4000) -> np.ndarray:
    a, k = np.array([-1.0, 0.0, 1.0])[:, None, None], np.array([-1.0, 1.0])[None, :, None]
    generator = np.random.default_rng(0)
    luck = seed * generator.normal(size=(1, 1, seeds)) + trial * generator.normal(size=(3, 2, seeds))
    return rows * a + columns * k + cells * a * k + luck


def test_crossed_shares_of_a_known_design() -> None:
    found = crossed_shares(design(1.0, 0.5, 0.5, 0.3, 0.6, 300))
    parts = np.array([2 / 3, 0.25, 0.25 * 2 / 3, 0.45])
    values = [found.architecture.value, found.activation.value, found.interaction.value, found.seed.value]
    assert values == pytest.approx(list(parts / parts.sum()), abs=0.02)
    assert sum(values) == pytest.approx(1)
    assert found.shared.value == pytest.approx(0.2, abs=0.04)


def test_components_are_unbiased() -> None:
    """Averaged over small designs they give the variances that made them."""
    values = design(1.0, 0.5, 0.0, 0.3, 0.6).reshape(3, 2, 1000, 4).transpose(2, 0, 1, 3)
    assert components(values).mean(axis=0) == pytest.approx([2 / 3, 0.25, 0.0, 0.45], abs=0.03)


@given(st.integers(0, 2**32 - 1))
def test_mean_squares_sum_to_the_variance(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(3, 4, 5))
    assert mean_squares(values[None]).sum() == pytest.approx(values.var())


def test_crossed_shares_with_one_architecture_too_few_seeds_or_missing_ones() -> None:
    values = design(1.0, 0.5, 0.5, 0.3, 0.6, 5)
    holed = values.copy()
    holed[0, 0, 2] = math.nan
    assert crossed_shares(holed) == crossed_shares(np.delete(values, 2, axis=2))
    assert math.isnan(crossed_shares(values[:, :, :2]).seed.low)
    assert not math.isnan(crossed_shares(values[:, :, :2]).seed.value)
    assert math.isnan(crossed_shares(values[:, :, :1]).seed.value)
    with pytest.raises(BadInput, match=r"2 x 2 arms, got shape \(1, 2, 5\)"):
        crossed_shares(values[:1])


def test_crossed_shares_of_values_that_never_vary() -> None:
    """Equal everywhere: nothing to share out. Equal over seeds: all of it lies between arms."""
    nothing, no_luck = crossed_shares(np.full((2, 2, 3), 0.1)), crossed_shares(np.repeat(np.arange(4.0).reshape(2, 2, 1), 3, axis=2))
    assert math.isnan(nothing.seed.value)
    assert (no_luck.seed.value, no_luck.architecture.value) == pytest.approx((0.0, 0.8))
    assert math.isnan(no_luck.shared.value)
