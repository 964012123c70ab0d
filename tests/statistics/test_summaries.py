"""Interquartile mean, probability of improvement, Spearman, CV%: published conventions, SciPy, ties and missing values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics import (
    coefficient_of_variation,
    interquartile_mean,
    interquartile_mean_interval,
    probability_of_improvement,
    probability_of_improvement_interval,
    spearman,
)

CHARLM_PD = [0.9051, 1.0739, 1.0938, 0.5935, 1.0952]
"""The five CharLM cells of the reference's table, printed there with mean 0.9523 and CV 20.26%."""
ARM = st.lists(st.integers(0, 4), min_size=1, max_size=6)


def test_interquartile_mean_cuts_a_quarter_at_each_end() -> None:
    assert interquartile_mean([0, 1, 2, 3, 4, 5, 6, 100]) == 3.5
    assert interquartile_mean([1.0, 2.0, 9.0]) == 4.0  # three trials: the mean
    assert interquartile_mean([[1.0, math.nan], [2.0, 3.0]]) == 2.0
    assert math.isnan(interquartile_mean([]))


def test_interquartile_mean_interval_resamples_trials_within_tasks() -> None:
    """Tasks on different scales: only what varies within a task widens the interval."""
    table = np.array([[0.0, 10.0], [0.0, 10.0], [0.0, 10.0], [0.0, 10.0]])
    found = interquartile_mean_interval(table, np.random.default_rng(0))
    assert (found.value, found.low, found.high, found.n) == (5.0, 5.0, 5.0, 4)
    noisy = table + np.random.default_rng(1).normal(size=(4, 2))
    first, again = (interquartile_mean_interval(noisy, np.random.default_rng(2)) for _ in range(2))
    assert first == again
    assert first.low < first.value < first.high


def test_interquartile_mean_interval_agrees_with_scipy_bootstrap() -> None:
    values = np.random.default_rng(0).normal(size=20)
    found = interquartile_mean_interval(values, np.random.default_rng(1), resamples=5000)
    expected = stats.bootstrap(
        (values,), lambda x, axis: stats.trim_mean(x, 0.25, axis=axis), n_resamples=5000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.05)


@given(ARM, ARM)
def test_probability_of_improvement_is_mann_whitney(a: list[int], b: list[int]) -> None:
    expected = stats.mannwhitneyu(a, b, method="asymptotic").statistic / (len(a) * len(b)) if len(set(a + b)) > 1 else 0.5
    assert probability_of_improvement(a, b) == pytest.approx(expected)
    assert probability_of_improvement(a, b) + probability_of_improvement(b, a) == pytest.approx(1)


def test_probability_of_improvement_of_three_trials_knows_ninths() -> None:
    assert probability_of_improvement([1, 4, 6], [2, 3, 5]) == pytest.approx(5 / 9)
    assert math.isnan(probability_of_improvement([math.nan], [1.0]))


def test_probability_of_improvement_interval() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(0.5, size=12), generator.normal(size=10)
    found = probability_of_improvement_interval(a, b, np.random.default_rng(1))
    slow = [probability_of_improvement(generator.choice(a, 12), generator.choice(b, 10)) for _ in range(2000)]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=0.03)
    assert found.n == 22
    assert math.isnan(probability_of_improvement_interval([1.0], b, generator).low)


def test_spearman_is_the_one_of_scipy() -> None:
    x, y = np.random.default_rng(0).integers(0, 6, size=(2, 15)).astype(float)
    found = spearman(x, y, np.random.default_rng(1))
    assert found.value == pytest.approx(stats.spearmanr(x, y).statistic)
    assert -1 <= found.low < found.value < found.high <= 1


def test_spearman_interval_agrees_with_scipy_bootstrap() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=30)
    y = x + generator.normal(size=30)

    def statistic(x: np.ndarray, y: np.ndarray) -> float:
        return float(stats.spearmanr(x, y).statistic)

    expected = stats.bootstrap(
        (x, y), statistic, paired=True, vectorized=False, n_resamples=800, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    found = spearman(x, y, np.random.default_rng(3))
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.06)


def test_spearman_of_missing_and_constant_values() -> None:
    generator = np.random.default_rng(0)
    assert spearman([1, 2, 3, math.nan], [2, 4, 9, 1], generator).value == pytest.approx(1)
    assert math.isnan(spearman([1, 2, 3], [2, 4, 9], generator).low)
    assert math.isnan(spearman([1, 1, 1, 1], [1, 2, 3, 4], generator).value)
    assert math.isnan(spearman([], [], generator).value)


def test_cv_of_the_reference_table() -> None:
    """The table prints the population's; a sample's is 22.66%."""
    assert coefficient_of_variation(CHARLM_PD, ddof=0) == pytest.approx(20.26, abs=0.01)
    assert coefficient_of_variation(CHARLM_PD) == pytest.approx(22.66, abs=0.01)
    assert math.isnan(coefficient_of_variation([1.0]))
    assert math.isnan(coefficient_of_variation([-1.0, 1.0]))


def test_bad_input_says_what_was_given() -> None:
    generator = np.random.default_rng(0)
    with pytest.raises(BadInput, match="1 NaN"):
        interquartile_mean_interval([1.0, math.nan], generator)
    with pytest.raises(BadInput, match="got 2 and 3"):
        spearman([1, 2], [1, 2, 3], generator)
    with pytest.raises(BadInput, match="got 2"):
        coefficient_of_variation([1.0, 2.0], ddof=2)
