"""The expected best of k draws: exact enumeration, bias, direction, and random search."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actlab.errors import BadInput
from actlab.statistics import best_of_k, best_of_k_curve, random_search
from actlab.statistics.best_of_k import standard_error

SCORES = st.lists(st.floats(-100, 100), min_size=1, max_size=7)


@given(SCORES, st.integers(1, 7))
def test_best_of_k_is_the_mean_over_all_subsets(values: list[float], k: int) -> None:
    expected = float(np.mean([max(chosen) for chosen in combinations(values, k)])) if k <= len(values) else math.nan
    assert best_of_k(values, k) == pytest.approx(expected, nan_ok=True, abs=1e-9)


@given(SCORES)
def test_curve_runs_from_the_mean_to_the_maximum_and_never_falls(values: list[float]) -> None:
    curve = [best_of_k(values, k) for k in range(1, len(values) + 1)]
    assert (curve[0], curve[-1]) == pytest.approx((np.mean(values), max(values)), abs=1e-9)
    assert (np.diff(curve) >= -1e-9).all()


def test_many_draws_do_not_overflow() -> None:
    """C(5000, 2500) is beyond a double."""
    assert best_of_k(np.ones(5000), 2500) == pytest.approx(1.0)


def test_direction_missing_and_diverged_scores() -> None:
    losses = [3.0, 1.0, 2.0]
    assert best_of_k(losses, 2, lower_is_better=True) == pytest.approx(4 / 3)
    assert best_of_k([*losses, math.nan], 2) == best_of_k(losses, 2)
    assert best_of_k([*losses, math.inf], 2, lower_is_better=True) == pytest.approx(np.mean([1, 1, 2, 1, 2, 3]))
    assert best_of_k([-math.inf, -math.inf, 1.0], 2) == -math.inf


@pytest.mark.parametrize("k", [1, 3, 7])
def test_standard_error_is_the_jackknife_by_hand(k: int) -> None:
    values = np.sort(np.random.default_rng(0).normal(size=8))
    left_out = np.array([best_of_k(np.delete(values, i), k) for i in range(8)])
    expected = math.sqrt(7 / 8 * ((left_out - left_out.mean()) ** 2).sum())
    assert standard_error(values[None], k)[0] == pytest.approx(expected)


def test_curve_gives_best_of_k_with_an_interval_around_it() -> None:
    values = np.random.default_rng(0).normal(size=20)
    curve = best_of_k_curve(values, [1, 4, 20, 21], np.random.default_rng(0))
    assert [found.value for found in curve] == pytest.approx(
        [best_of_k(values, k) for k in (1, 4, 20, 21)], nan_ok=True
    )
    assert all(found.low < found.value < found.high for found in curve[:2])
    assert all(math.isnan(found.low) for found in curve[2:])
    assert curve[0].n == 20


def test_curve_turns_round_with_the_direction() -> None:
    values = np.random.default_rng(0).normal(size=20)
    up, down = (
        best_of_k_curve(sign * values, [3], np.random.default_rng(0), lower_is_better=sign < 0)[0] for sign in (1, -1)
    )
    assert (up.value, up.low, up.high) == pytest.approx((-down.value, -down.high, -down.low))


def test_the_seed_is_the_only_source_of_randomness_of_the_curve() -> None:
    values = np.random.default_rng(0).normal(size=20)
    first, again, other = (best_of_k_curve(values, [3], np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert first == again
    assert first != other


@pytest.mark.parametrize("values", [[], [1.0], [2.0] * 10, [-math.inf, *range(10)]])
def test_curve_without_spread_or_with_diverged_scores_has_no_interval(values: list[float]) -> None:
    assert math.isnan(best_of_k_curve(values, [1], np.random.default_rng(0))[0].low)


def test_random_search_draws_distinct_configurations_evenly() -> None:
    generator = np.random.default_rng(0)
    draws = np.array([random_search(generator, 5, 3) for _ in range(4000)])
    assert all(len(set(draw)) == 3 for draw in draws)
    assert np.bincount(draws.ravel(), minlength=5) / draws.size == pytest.approx(np.full(5, 0.2), abs=0.015)
    assert (random_search(np.random.default_rng(1), 50, 9) == random_search(np.random.default_rng(1), 50, 9)).all()


def test_random_search_of_a_whole_grid_finds_the_best_of_k() -> None:
    """What ``best_of_k`` expects is what random searches find on average."""
    scores, generator = np.random.default_rng(0).normal(size=12), np.random.default_rng(1)
    found = np.mean([scores[random_search(generator, 12, 4)].max() for _ in range(4000)])
    assert found == pytest.approx(best_of_k(scores, 4), abs=0.03)


def test_bad_input_says_what_was_given() -> None:
    with pytest.raises(BadInput, match="k >= 1, got 0"):
        best_of_k([1.0, 2.0], 0)
    with pytest.raises(BadInput, match="worse side"):
        best_of_k([1.0, math.inf], 1)
    with pytest.raises(BadInput, match=r"shape \(2, 1\)"):
        best_of_k([[1.0], [2.0]], 1)
    with pytest.raises(BadInput, match="between 1 and 5"):
        random_search(np.random.default_rng(0), 5, 6)
