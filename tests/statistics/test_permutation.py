"""Permutation tests: exact enumeration against SciPy and the recomputed numbers, the floors, and the random version."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics import (
    block_floor,
    f_floor,
    permutation_blocks,
    permutation_f,
    permutation_paired,
    permutation_two_sample,
    sign_flip_floor,
    two_sample_floor,
)

CHARLM = {"relu": [1.55377, 1.55269, 1.56011], "gelu": [1.55847, 1.52676, 1.57674], "swish": [1.47377, 1.51979, 1.49850]}
SMALL = st.lists(st.integers(0, 5), min_size=2, max_size=4)


def test_f_of_the_reference_losses() -> None:
    found = permutation_f(CHARLM)
    assert found.p_value == pytest.approx(60 / 1680)
    assert found.floor == pytest.approx(6 / 1680)
    assert found.statistic == pytest.approx(8.341, rel=2e-3)


def test_blocks_of_the_reference_losses() -> None:
    found = permutation_blocks(np.array(list(CHARLM.values())).T)
    assert (found.p_value, found.floor) == pytest.approx((24 / 216, 6 / 216))


@pytest.mark.parametrize(("n", "floor"), [(3, 0.10), (4, 0.0286), (5, 0.0079)])
def test_two_arms_wholly_apart_reach_the_floor(n: int, floor: float) -> None:
    found = permutation_two_sample(np.arange(n), 10 + np.arange(n))
    assert found.p_value == found.floor == pytest.approx(floor, abs=1e-4)
    assert found.statistic == pytest.approx(-10)


@pytest.mark.parametrize(("n", "floor"), [(3, 0.25), (5, 0.0625), (6, 0.03125)])
def test_pairs_of_one_sign_reach_the_floor(n: int, floor: float) -> None:
    found = permutation_paired(np.arange(n) + 1.0, np.zeros(n))
    assert found.p_value == found.floor == floor


def test_floors() -> None:
    assert two_sample_floor(3, 3) == pytest.approx(0.1)
    assert two_sample_floor(3, 4) == pytest.approx(1 / 35)
    assert sign_flip_floor(6) == 0.03125
    assert f_floor([3, 3, 3]) == pytest.approx(6 / 1680)
    assert f_floor([2, 3]) == pytest.approx(1 / 10)
    assert block_floor(3, 3) == pytest.approx(6 / 216)


@given(SMALL, SMALL)
@settings(max_examples=30)
def test_two_sample_is_the_one_of_scipy(a: list[int], b: list[int]) -> None:
    """Integers bring ties, which rounding must not part."""

    def distance(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.round(np.abs(x.mean(axis=axis) - y.mean(axis=axis)), 12)

    expected = stats.permutation_test((np.array(a, float), np.array(b, float)), distance, n_resamples=np.inf, alternative="greater", vectorized=True)
    assert permutation_two_sample(a, b).p_value == pytest.approx(expected.pvalue)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=7))
@settings(max_examples=30)
def test_p_values_lie_between_floor_and_one_and_do_not_depend_on_the_order_of_arms(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=float).T
    for test in (permutation_two_sample, permutation_paired):
        first, second = test(a, b), test(b, a)
        assert first.p_value == second.p_value
        assert first.floor - 1e-12 <= first.p_value <= 1


def test_f_of_two_arms_is_the_two_sample_test() -> None:
    a, b = np.random.default_rng(0).normal(size=(2, 4))
    assert permutation_f({"a": a, "b": b}).p_value == pytest.approx(permutation_two_sample(a, b).p_value)


def test_blocks_of_two_arms_are_sign_flips() -> None:
    table = np.random.default_rng(0).normal(size=(6, 2))
    assert permutation_blocks(table).p_value == pytest.approx(permutation_paired(table[:, 0], table[:, 1]).p_value)


def test_random_relabellings_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    arms = {name: generator.normal(shift, size=4) for name, shift in (("a", 0.0), ("b", 0.5), ("c", 1.0))}
    table = np.array(list(arms.values())).T
    tests = [
        lambda g=None: permutation_two_sample(arms["a"], arms["c"], g),
        lambda g=None: permutation_paired(arms["a"], arms["c"], g),
        lambda g=None: permutation_f(arms, g),
        lambda g=None: permutation_blocks(table, g),
    ]
    exact = [test() for test in tests]
    monkeypatch.setattr("actlab.statistics.permutation.EXACT_LIMIT", 1)
    drawn = [test(generator) for test in tests]
    assert [found.p_value for found in drawn] == pytest.approx([found.p_value for found in exact], abs=0.02)
    assert all(found.method.startswith("Monte Carlo") for found in drawn)


def test_random_p_values_are_never_zero_and_need_a_generator() -> None:
    apart = np.arange(20), 1000 + np.arange(20)
    found = permutation_two_sample(*apart, np.random.default_rng(0), resamples=999)
    assert found.p_value == found.floor == 0.001
    assert found == permutation_two_sample(*apart, np.random.default_rng(0), resamples=999)
    with pytest.raises(BadInput, match="expected a generator"):
        permutation_two_sample(*apart)


def test_missing_trials() -> None:
    assert permutation_two_sample([1, 2, math.nan], [3, 4]) == permutation_two_sample([1, 2], [3, 4])
    assert permutation_paired([1, 2, math.nan], [3, 5, 4]).n == 2
    for found in (
        permutation_two_sample([], [1.0]),
        permutation_paired([math.nan], [1.0]),
        permutation_f({"a": [1.0], "b": [2.0]}),
        permutation_blocks([[1.0, 2.0]]),
    ):
        assert math.isnan(found.p_value)
    with pytest.raises(BadInput, match="got 1 and 2 values"):
        permutation_paired([1], [1, 2])


def test_exact_test_holds_its_level() -> None:
    """Under the null p <= 0.1 happens in one of ten samples, exactly as the enumeration says."""
    generator = np.random.default_rng(0)
    p_values = np.array([permutation_two_sample(*generator.normal(size=(2, 4))).p_value for _ in range(800)])
    assert (p_values <= 0.1).mean() == pytest.approx(6 / 70, abs=0.03)
