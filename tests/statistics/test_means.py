"""Means over trials and over pairs of trials: known answers, what is missing, the algebra of the jackknife, ranks."""

import itertools
import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics.estimate import few_differ, log_limits
from actlab.statistics.means import (
    mean_interval,
    without_replacement,
)


def distances(points):
    return np.abs(points[:, None] - points[None]).mean(axis=-1)


@pytest.fixture
def matrix():
    return distances(np.random.default_rng(0).normal(size=(5, 4)))


def test_means_and_paired_differences_are_those_of_scipy():
    """Missing trials are left out and counted; the p-value is the t test's."""
    values = [1.55377, 1.55269, 1.56011]
    found = mean_interval([*values, math.nan])
    assert (found.low, found.high) == pytest.approx(tuple(stats.ttest_1samp(values, 0).confidence_interval(0.95)))
    assert found.n == 3
    a, b = [1.0, 2.5, 4.0, 4.5], [0.5, 2.6, 3.1, math.nan]
    expected, difference = stats.ttest_rel(a[:3], b[:3]), mean_interval(np.subtract(a, b))
    assert (difference.low, difference.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert (difference.n, difference.p_value()) == (3, pytest.approx(expected.pvalue))


def test_an_estimate_without_interval_excludes_nothing():
    """No interval, no evidence; an interval of no width leaves no doubt."""
    p_values = [mean_interval(difference).p_value() for difference in ([1.0], [0.0, 0.0], [1.0, 1.0])]
    assert p_values == [1, 1, 0]
    few = {size: mean_interval(np.full((size, size), 0.5)) for size in (0, 1, 2)}
    assert [math.isnan(found.value) for found in few.values()] == [True, True, False]
    assert all(math.isnan(found.low) for found in few.values())


def test_a_mean_over_pairs_is_the_mean_over_pairs_and_the_jackknife_by_hand(matrix):
    """The slow reference: drop a trial, average again. Of a difference: drop it from both arms."""

    def average(values, kept):
        return float(np.mean([values[i, j] for i, j in itertools.combinations(kept, 2)]))

    def by_hand(values):
        left_out = np.array([average(values, [j for j in range(5) if j != i]) for i in range(5)])
        error = math.sqrt(4 / 5 * ((left_out - left_out.mean()) ** 2).sum())
        return average(values, list(range(5))), stats.t.ppf(0.975, 4) * error

    other = distances(np.random.default_rng(3).normal(size=(5, 4)))
    for values in (matrix, matrix - other):
        found = mean_interval(values)
        assert (found.value, found.high - found.value) == pytest.approx(by_hand(values))


@pytest.mark.parametrize("diagonal", [0.0, math.nan, 7.0])
def test_missing_trials_are_dropped_from_pairs_and_the_diagonal_is_not_read(matrix, diagonal):
    holed = matrix.copy()
    holed[2], holed[:, 2] = math.nan, math.nan
    np.fill_diagonal(holed, diagonal)
    kept = [0, 1, 3, 4]
    assert mean_interval(holed) == mean_interval(matrix[np.ix_(kept, kept)])
    assert astuple(mean_interval(holed - matrix)) == (0.0, 0.0, 0.0, 4)
    with pytest.raises(BadInput, match="got inf"):
        mean_interval(holed + math.inf)


@pytest.mark.parametrize(("trials", "lowest", "highest"), [(3, 0.96, 0.995), (10, 0.935, 0.975)])
def test_jackknife_over_trials_covers_at_least_its_claim(trials, lowest, highest):
    """Of PD-like values, h_ij = mean over inputs of |x_i - x_j|: additive parts of the trials and interactions both.
    Claim: at least about 95%; conservative at small M."""
    generator, truth = np.random.default_rng(0), 2 / np.sqrt(np.pi)  # E|x - y| of two standard normal values
    found = [mean_interval(distances(generator.normal(size=(trials, 20)))) for _ in range(1500)]
    assert lowest <= np.mean([e.low <= truth <= e.high for e in found]) <= highest


def test_what_cannot_be_negative_has_its_interval_on_a_log_scale():
    """The same standard error, as a factor either way; 0 and a missing interval stay as they are."""
    assert log_limits(0.1, -0.1, 0.3) == pytest.approx((0.1 * math.exp(-2), 0.1 * math.exp(2)))
    assert log_limits(0.0, -0.1, 0.1) == (-0.1, 0.1)
    low, high = log_limits([0.1, 0.1], [-0.1, np.nan], [0.3, np.nan])
    assert np.isnan([low[1], high[1]]).all()
    assert high[0] == pytest.approx(0.1 * math.exp(2))


def test_too_few_trials_differ():
    """All pairs differ by one value, or one run alone differs from the rest, as tinylstm's churn under smelu_1;
    distances of five points are fine; two trials are another matter."""
    one_off = np.zeros((5, 5))
    one_off[0] = one_off[:, 0] = np.arange(5.0)
    others = [distances(np.arange(5.0)[:, None] ** 2), np.zeros((5, 5)), np.eye(2)[::-1]]
    matrices = [np.ones((5, 5)), one_off, *others]
    assert [few_differ(m[np.triu_indices(len(m), 1)]) for m in matrices] == [True] * 2 + [False] * 3


@given(st.lists(st.floats(-100, 100), min_size=7, max_size=7), st.integers(1, 7))
def test_expected_best_is_the_mean_over_all_subsets(values, k):
    """Also of draws whose number of subsets is beyond a double."""
    expected = float(np.mean([max(chosen) for chosen in itertools.combinations(values, k)]))
    assert np.sort(values) @ without_replacement(7, k) == pytest.approx(expected, abs=1e-9)
    assert without_replacement(5000, 2500).sum() == pytest.approx(1.0)
