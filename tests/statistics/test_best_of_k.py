"""The expected best of k draws: exact enumeration, direction, the jackknife; the published bootstrap reproduced."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actlab.errors import BadInput
from actlab.statistics.best_of_k import bootstrap_maximum, without_replacement

SCORES = st.lists(st.floats(-100, 100), min_size=1, max_size=7)


def best(values, k):
    return float(np.sort(values) @ without_replacement(len(values), k))


@given(SCORES, st.integers(1, 7))
def test_expected_best_is_the_mean_over_all_subsets(values, k):
    expected = float(np.mean([max(chosen) for chosen in combinations(values, k)])) if k <= len(values) else math.nan
    assert best(values, k) == pytest.approx(expected, nan_ok=True, abs=1e-9)


def test_many_draws_do_not_overflow():
    """C(5000, 2500) is beyond a double."""
    assert without_replacement(5000, 2500).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(("k", "share"), [(2, 0.75), (4, 0.6836), (8, 0.6564)])
def test_upper_limit_of_the_published_bootstrap_is_the_sample_maximum(k, share):
    """P(resampled maximum = sample maximum) = 1 - (1 - 1/k)^k: above the 2.5% that the upper limit leaves."""
    values = np.arange(k, dtype=float)
    assert bootstrap_maximum(values, np.random.default_rng(0)).high == values.max()
    assert share == pytest.approx(1 - (1 - 1 / k) ** k, abs=1e-4)


def test_bad_input_says_what_was_given():
    with pytest.raises(BadInput, match="k >= 1, got 0"):
        without_replacement(2, 0)
    with pytest.raises(BadInput, match="got inf"):
        bootstrap_maximum([1.0, math.inf], np.random.default_rng(0))
