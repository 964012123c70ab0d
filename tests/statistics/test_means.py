"""Means over trials and over pairs of trials: known answers, what is missing, the algebra of the jackknife, ranks."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import actlab
from actlab.statistics.estimate import log_limits


def distances(points):
    return np.abs(points[:, None] - points[None]).mean(axis=-1)


def table(*arms):
    """Of each arm one value a run, or of a symmetric matrix one a pair of runs."""
    rows = []
    for arm, values in enumerate(map(np.asarray, arms)):
        i, j = np.triu_indices(len(values), 1)
        names = {"seed": range(len(values))} if values.ndim == 1 else {"first": i, "second": j}
        rows.append(pd.DataFrame(names | {"value": values if values.ndim == 1 else values[i, j], "arm": arm}))
    return pd.concat(rows)


def mean(values):
    return actlab.means(table(values), "value", "arm").iloc[0]


def minus(a, b):
    return actlab.contrasts(table(b, a), "value", [], "arm", 0).iloc[0]


@pytest.fixture
def matrix():
    return distances(np.random.default_rng(0).normal(size=(5, 4)))


def test_means_are_those_of_scipy():
    """Missing trials are left out, and n says so."""
    values = [1.55377, 1.55269, 1.56011]
    found = mean([*values, math.nan])
    assert (found["low"], found["high"]) == pytest.approx((*stats.ttest_1samp(values, 0).confidence_interval(0.95),))
    assert found["n"] == 3


def test_a_mean_over_pairs_is_the_mean_over_pairs_and_the_jackknife_by_hand(matrix):
    """The slow reference: drop a trial, average again. Of a difference: drop it from both arms."""

    def average(values, kept):
        return float(np.mean([values[i, j] for i, j in itertools.combinations(kept, 2)]))

    def by_hand(values):
        left_out = np.array([average(values, [j for j in range(5) if j != i]) for i in range(5)])
        error = math.sqrt(4 / 5 * ((left_out - left_out.mean()) ** 2).sum())
        return average(values, list(range(5))), error, stats.t.ppf(0.975, 4) * error

    other = distances(np.random.default_rng(3).normal(size=(5, 4)))
    both = minus(matrix, other)
    for value, found, values in (("estimate", mean(matrix), matrix), ("difference", both, matrix - other)):
        assert (found[value], found["se"], found["high"] - found[value]) == pytest.approx(by_hand(values))


def test_missing_trials_are_dropped_from_pairs(matrix):
    holed = matrix.copy()
    holed[2], holed[:, 2] = math.nan, math.nan
    kept = [0, 1, 3, 4]
    pd.testing.assert_series_equal(mean(holed), mean(matrix[np.ix_(kept, kept)]))
    assert minus(holed, matrix)[["difference", "se", "n"]].tolist() == [0.0, 0.0, 4]


@pytest.mark.parametrize(("trials", "lowest", "highest"), [(3, 0.96, 0.995), (10, 0.935, 0.975)])
def test_jackknife_over_trials_covers_at_least_its_claim(trials, lowest, highest):
    """Of PD-like values, h_ij = mean over inputs of |x_i - x_j|: additive parts of the trials and interactions both.
    Claim: at least about 95%; conservative at small M."""
    generator, truth = np.random.default_rng(0), 2 / np.sqrt(np.pi)  # E|x - y| of two standard normal values
    drawn = table(*(distances(generator.normal(size=(trials, 20))) for _ in range(1500)))
    found = actlab.means(drawn, "value", "arm")
    assert lowest <= found["low"].le(truth).mul(found["high"] >= truth).mean() <= highest


def test_what_cannot_be_negative_has_its_interval_on_a_log_scale():
    """The same standard error, as a factor either way; 0 and a missing interval stay as they are."""
    assert log_limits(0.1, -0.1, 0.3) == pytest.approx((0.1 * math.exp(-2), 0.1 * math.exp(2)))
    assert log_limits(0.0, -0.1, 0.1) == (-0.1, 0.1)
    low, high = log_limits([0.1, 0.1], [-0.1, np.nan], [0.3, np.nan])
    assert np.isnan([low[1], high[1]]).all()
    assert high[0] == pytest.approx(0.1 * math.exp(2))
