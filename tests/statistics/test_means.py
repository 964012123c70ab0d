"""Intervals over trials: known answers, what is missing, and the algebra behind the jackknife."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics import Estimate, few_differ, mean_interval, pair_mean, pair_mean_difference, paired_difference

FINITE = st.floats(-1e3, 1e3)


def distances(points: np.ndarray) -> np.ndarray:
    return np.abs(points[:, None] - points[None]).mean(axis=-1)


@pytest.fixture
def matrix() -> np.ndarray:
    return distances(np.random.default_rng(0).normal(size=(5, 4)))


def test_mean_interval_is_the_one_of_scipy() -> None:
    values = [1.55377, 1.55269, 1.56011]
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    found = mean_interval(values, 0.9)
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    assert (found.n, found.level) == (3, 0.9)


def test_estimate_reads_as_number_interval_and_n() -> None:
    assert str(Estimate(0.123, 0.11, 0.136, 5, 0.95, "t")) == "0.123 [0.110, 0.136], n = 5"
    assert str(mean_interval([2.0])) == "2.000 [no interval], n = 1"
    assert str(mean_interval([math.nan])) == "no value, n = 0"


def test_estimate_without_interval_excludes_nothing() -> None:
    assert not mean_interval([2.0]).excludes(100.0)
    assert mean_interval([2.0, 2.0]).excludes(2.1)


def test_missing_trials_are_left_out_and_counted() -> None:
    assert mean_interval([1.0, math.nan, 3.0]) == mean_interval([1.0, 3.0])


def test_paired_difference_is_the_one_of_scipy() -> None:
    a, b = [1.0, 2.5, 4.0, 4.5], [0.5, 2.6, 3.1, math.nan]
    expected = stats.ttest_rel(a[:3], b[:3]).confidence_interval(0.95)
    found = paired_difference(a, b)
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    assert found.n == 3


def test_pair_mean_is_the_mean_over_pairs_and_the_jackknife_by_hand(matrix: np.ndarray) -> None:
    """The slow reference: drop a trial, average again."""

    def average(kept: list[int]) -> float:
        return float(np.mean([matrix[i, j] for i, j in itertools.combinations(kept, 2)]))

    left_out = np.array([average([j for j in range(5) if j != i]) for i in range(5)])
    error = math.sqrt(4 / 5 * ((left_out - left_out.mean()) ** 2).sum())
    found = pair_mean(matrix)
    assert found.value == pytest.approx(average(list(range(5))))
    assert left_out.mean() == pytest.approx(found.value)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 4) * error)


def test_jackknife_of_three_trials_is_four_times_the_naive_variance() -> None:
    matrix = distances(np.random.default_rng(1).normal(size=(3, 2)))
    naive = matrix[np.triu_indices(3, 1)].var(ddof=1) / 3
    found = pair_mean(matrix)
    assert ((found.high - found.value) / stats.t.ppf(0.975, 2)) ** 2 == pytest.approx(4 * naive)


@given(arrays(float, (4, 3), elements=FINITE))
def test_sum_kernel_is_twice_the_mean(points: np.ndarray) -> None:
    """For h_ij = x_i + x_j the U-statistic is twice the mean, and its jackknife twice the t interval, exactly."""
    x = points[:, 0]
    found, mean = pair_mean(x[:, None] + x[None]), mean_interval(x)
    assert (found.value, found.low, found.high) == pytest.approx(
        (2 * mean.value, 2 * mean.low, 2 * mean.high), rel=1e-6, abs=1e-6
    )


@given(st.permutations(range(5)), st.floats(0.1, 10.0))
def test_pair_mean_ignores_order_and_follows_the_unit(order: list[int], unit: float) -> None:
    matrix = distances(np.random.default_rng(0).normal(size=(5, 4)))
    first, second = pair_mean(matrix), pair_mean(unit * matrix[np.ix_(order, order)])
    assert (second.value, second.low, second.high) == pytest.approx(
        (unit * first.value, unit * first.low, unit * first.high)
    )


@pytest.mark.parametrize("diagonal", [0.0, math.nan, 7.0])
def test_pair_mean_drops_missing_trials_and_never_reads_the_diagonal(matrix: np.ndarray, diagonal: float) -> None:
    holed = matrix.copy()
    holed[2], holed[:, 2] = math.nan, math.nan
    np.fill_diagonal(holed, diagonal)
    kept = [0, 1, 3, 4]
    assert pair_mean(holed) == pair_mean(matrix[np.ix_(kept, kept)])


@pytest.mark.parametrize(("size", "value"), [(0, math.nan), (1, math.nan), (2, 0.5)])
def test_too_few_trials_give_no_interval(size: int, value: float) -> None:
    found = pair_mean(np.full((size, size), 0.5))
    assert found.value == pytest.approx(value, nan_ok=True)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_pair_mean_difference_drops_a_seed_from_both_arms(matrix: np.ndarray) -> None:
    other = distances(np.random.default_rng(3).normal(size=(5, 4)))
    found = pair_mean_difference(matrix, other)
    left_out = []
    for i in range(5):
        kept = np.delete(np.arange(5), i)
        left_out.append(pair_mean(matrix[np.ix_(kept, kept)]).value - pair_mean(other[np.ix_(kept, kept)]).value)
    error = math.sqrt(4 / 5 * ((np.array(left_out) - np.mean(left_out)) ** 2).sum())
    assert found.value == pytest.approx(pair_mean(matrix).value - pair_mean(other).value)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 4) * error)


def test_pair_mean_difference_uses_shared_seeds_only(matrix: np.ndarray) -> None:
    holed = matrix.copy()
    holed[0], holed[:, 0] = math.nan, math.nan
    found = pair_mean_difference(holed, matrix)
    assert (found.value, found.low, found.high, found.n) == (0.0, 0.0, 0.0, 4)


def test_bad_input_says_what_was_given(matrix: np.ndarray) -> None:
    lopsided = matrix.copy()
    lopsided[0, 1] += 1
    single = matrix.copy()
    single[0, 1] = single[1, 0] = math.nan
    with pytest.raises(BadInput, match=r"shape \(2, 2\)"):
        mean_interval([[1, 2], [3, 4]])
    with pytest.raises(BadInput, match="got inf"):
        mean_interval([1.0, math.inf])
    with pytest.raises(BadInput, match="got 95"):
        mean_interval([1.0, 2.0], level=95)
    with pytest.raises(BadInput, match="got 2 and 3 values"):
        paired_difference([1, 2], [1, 2, 3])
    with pytest.raises(BadInput, match=r"shape \(5, 4\)"):
        pair_mean(matrix[:, :4])
    with pytest.raises(BadInput, match="differ"):
        pair_mean(lopsided)
    with pytest.raises(BadInput, match="single pair"):
        pair_mean(single)
    with pytest.raises(BadInput, match="5 and 4 trials"):
        pair_mean_difference(matrix, matrix[:4, :4])


def test_too_few_trials_differ() -> None:
    """Nine of ten pairs 0 or one value, as tinylstm's churn under smelu_1; distances of five points are fine; two
    trials are another matter."""
    one_off = np.zeros((5, 5))
    one_off[0] = one_off[:, 0] = 0.00122
    assert few_differ(one_off)
    one_off[0, 1] = one_off[1, 0] = 0.0013
    assert few_differ(one_off)
    assert not few_differ(distances(np.arange(5.0)[:, None] ** 2))
    assert not few_differ(np.zeros((5, 5)))
    assert not few_differ([[0, 1.0], [1.0, 0]])
