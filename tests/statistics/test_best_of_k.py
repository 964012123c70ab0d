"""The expected best of k draws: exact enumeration, direction, the jackknife; the published bootstrap reproduced."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actlab.errors import BadInput
from actlab.statistics.best_of_k import best_of_k_curve, bootstrap_maximum, standard_error, without_replacement

SCORES = st.lists(st.floats(-100, 100), min_size=1, max_size=7)


def best(values: list[float] | np.ndarray, k: int) -> float:
    return best_of_k_curve(values, [k], np.random.default_rng(0), resamples=10)[0].value


@given(SCORES, st.integers(1, 7))
def test_expected_best_is_the_mean_over_all_subsets(values: list[float], k: int) -> None:
    expected = float(np.mean([max(chosen) for chosen in combinations(values, k)])) if k <= len(values) else math.nan
    assert best(values, k) == pytest.approx(expected, nan_ok=True, abs=1e-9)


def test_many_draws_do_not_overflow() -> None:
    """C(5000, 2500) is beyond a double."""
    assert without_replacement(5000, 2500).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("k", [1, 3, 7])
def test_standard_error_is_the_jackknife_by_hand(k: int) -> None:
    values = np.sort(np.random.default_rng(0).normal(size=8))
    left_out = np.array([best(np.delete(values, i), k) for i in range(8)])
    expected = math.sqrt(7 / 8 * ((left_out - left_out.mean()) ** 2).sum())
    assert standard_error(values[None], k)[0] == pytest.approx(expected)


def test_curve_has_an_interval_where_k_is_below_the_draws_and_turns_round_with_the_direction() -> None:
    values = np.random.default_rng(0).normal(size=20)
    up, down = (
        best_of_k_curve([*sign * values, math.nan], [1, 4, 20, 21], np.random.default_rng(0), lower_is_better=sign < 0)
        for sign in (1, -1)
    )
    assert all(found.low < found.value < found.high for found in up[:2])
    assert all(math.isnan(found.low) for found in up[2:])
    assert (up[1].value, up[1].low, up[1].high) == pytest.approx((-down[1].value, -down[1].high, -down[1].low))
    assert up[0].n == 20
    assert math.isnan(best_of_k_curve([2.0] * 10, [1], np.random.default_rng(0))[0].low), "without spread"


def test_the_seed_is_the_only_source_of_randomness_of_the_curve() -> None:
    values = np.random.default_rng(0).normal(size=20)
    first, again, other = (best_of_k_curve(values, [3], np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert first == again
    assert first != other


@pytest.mark.parametrize(("k", "share"), [(2, 0.75), (4, 0.6836), (8, 0.6564)])
def test_upper_limit_of_the_published_bootstrap_is_the_sample_maximum(k: int, share: float) -> None:
    """P(resampled maximum = sample maximum) = 1 - (1 - 1/k)^k: above the 2.5% that the upper limit leaves."""
    values = np.arange(k, dtype=float)
    assert bootstrap_maximum(values, np.random.default_rng(0)).high == values.max()
    assert share == pytest.approx(1 - (1 - 1 / k) ** k, abs=1e-4)


def test_bad_input_says_what_was_given() -> None:
    for values, k, message in (
        ([1.0, 2.0], 0, "k >= 1, got 0"),
        ([1.0, math.inf], 1, "got inf"),
        ([[1.0]], 1, "shape"),
    ):
        with pytest.raises(BadInput, match=message):
            best_of_k_curve(values, [k], np.random.default_rng(0))
