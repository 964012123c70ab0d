"""The expected best of k draws: exact enumeration."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actlab.statistics.best_of_k import without_replacement


@given(st.lists(st.floats(-100, 100), min_size=7, max_size=7), st.integers(1, 7))
def test_expected_best_is_the_mean_over_all_subsets(values, k):
    expected = float(np.mean([max(chosen) for chosen in combinations(values, k)]))
    assert np.sort(values) @ without_replacement(7, k) == pytest.approx(expected, abs=1e-9)


def test_many_draws_do_not_overflow():
    """C(5000, 2500) is beyond a double."""
    assert without_replacement(5000, 2500).sum() == pytest.approx(1.0)
