"""Power and minimum detectable effects: recomputed tables, the noncentral t, and simulation."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics import detectable_paired, detectable_two_sample, power_paired, power_two_sample


@pytest.mark.parametrize(("n", "effect"), [(3, 3.07), (5, 2.02), (10, 1.32), (20, 0.91), (30, 0.74)])
def test_detectable_difference_of_two_arms(n: int, effect: float) -> None:
    assert detectable_two_sample(n) == pytest.approx(effect, abs=0.006)


def test_detectable_difference_with_bonferroni_over_three_pairs() -> None:
    assert detectable_two_sample(3, alpha=0.05 / 3) == pytest.approx(4.18, abs=0.006)


def test_detectable_difference_of_the_reference_in_nats() -> None:
    """CharLM's pooled standard deviation is 0.0199: three trials an arm show 0.061 nats."""
    assert 0.0199 * detectable_two_sample(3) == pytest.approx(0.061, abs=5e-4)


@pytest.mark.parametrize(("n", "effect"), [(3, 3.26), (5, 1.68), (10, 1.00)])
def test_detectable_paired_difference(n: int, effect: float) -> None:
    assert detectable_paired(n) == pytest.approx(effect, abs=0.006)


@pytest.mark.parametrize(("n", "effect"), [(5, 4.19), (10, 1.74), (20, 1.03)])
def test_detectable_paired_difference_at_the_first_step_of_holm_over_thirty(n: int, effect: float) -> None:
    assert detectable_paired(n, 0.05 / 30) == pytest.approx(effect, abs=0.006)


@pytest.mark.parametrize(("effect", "n"), [(0.2, 394), (0.5, 64), (0.8, 26)])
def test_table_of_cohen(effect: float, n: int) -> None:
    """Cohen 1992, table 2: trials per arm for power 0.8 (393, 64, 26; the exact first one is 394)."""
    assert power_two_sample(effect, n) >= 0.8 > power_two_sample(effect, n - 2)


@given(st.floats(0.1, 3), st.integers(3, 20))
def test_two_sample_power_is_that_of_the_noncentral_t(effect: float, n: int) -> None:
    degrees, shift = 2 * n - 2, effect * math.sqrt(n / 2)
    quantile = stats.t.ppf(0.975, degrees)
    expected = stats.nct.sf(quantile, degrees, shift) + stats.nct.cdf(-quantile, degrees, shift)
    assert power_two_sample(effect, n) == pytest.approx(expected, abs=1e-6)


@given(st.integers(2, 40), st.sampled_from([0.5, 0.8, 0.95]))
def test_detectable_effect_has_the_power_asked_for(n: int, power: float) -> None:
    assert power_two_sample(detectable_two_sample(n, power=power), n) == pytest.approx(power, abs=1e-6)
    assert power_paired(detectable_paired(n, power=power), n) == pytest.approx(power, abs=1e-6)


def test_no_effect_is_found_as_often_as_alpha() -> None:
    assert (power_two_sample(0, 5), power_paired(0, 5)) == (0.05, 0.05)


def test_bad_input_says_what_was_given() -> None:
    with pytest.raises(BadInput, match="at least 2 trials per arm, got 1"):
        power_two_sample(1.0, 1)
    with pytest.raises(BadInput, match="got 5"):
        power_paired(1.0, 3, alpha=5)
    with pytest.raises(BadInput, match=r"got 0\.01"):
        detectable_paired(3, power=0.01)
