"""Power and minimum detectable effects: recomputed tables, and the noncentral t."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from actlab.statistics.power import detectable_paired, power_two_sample


def test_detectable_differences_are_those_of_published_tables():
    """Paired, and paired at the first step of Holm over thirty."""
    for alpha, table in ((0.05, {3: 3.26, 5: 1.68, 10: 1.00}), (0.05 / 30, {5: 4.19, 10: 1.74, 20: 1.03})):
        assert {n: detectable_paired(n, alpha) for n in table} == pytest.approx(table, abs=0.006)


@given(st.floats(0.1, 3), st.integers(3, 20))
def test_two_sample_power_is_that_of_the_noncentral_t(effect, n):
    degrees, shift = 2 * n - 2, effect * math.sqrt(n / 2)
    quantile = stats.t.ppf(0.975, degrees)
    expected = stats.nct.sf(quantile, degrees, shift)
    if shift < 5:  # beyond, the other tail is below 1e-9 and SciPy gives NaN for some of it
        expected += stats.nct.cdf(-quantile, degrees, shift)
    assert power_two_sample(effect, n) == pytest.approx(expected, abs=1e-6)
