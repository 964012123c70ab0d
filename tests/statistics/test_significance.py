"""Tests between arms: the numbers recomputed from the reference study's CharLM losses, SciPy, and what degenerate data
give."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics.means import mean_interval
from actlab.statistics.significance import (
    equivalence_p,
    holm,
    one_way_anova,
    permutation_f,
    sign_flip_floor,
    tukey,
    welch,
)

CHARLM = {
    "relu": [1.55377, 1.55269, 1.56011],
    "gelu": [1.55847, 1.52676, 1.57674],
    "swish": [1.47377, 1.51979, 1.49850],
}
"""Final validation losses of CharLM at full scale, seeds 42 to 44, as the reference study committed them."""
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def test_f_of_the_reference_losses() -> None:
    """The report says F = 8.32, p = 0.024; its own values give p = 0.0185, and 60 of 1,680 relabellings."""
    found, exact = one_way_anova({**CHARLM, "empty": [math.nan]}), permutation_f(CHARLM)
    assert (found.statistic, found.p_value) == pytest.approx((8.341, 0.01851), rel=2e-3)
    assert (exact.statistic, exact.p_value) == pytest.approx((found.statistic, 60 / 1680))


def test_permutation_of_two_arms_is_the_two_sample_test() -> None:
    """Integers bring ties, which rounding must not part; arms of two sizes."""

    def distance(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.round(np.abs(x.mean(axis=axis) - y.mean(axis=axis)), 12)

    for a, b in (([1.0, 2, 2, 5], [3.0, 4, 4]), ([0.1, 0.2, 0.3], [0.3, 0.1, 0.7])):
        expected = stats.permutation_test((a, b), distance, n_resamples=np.inf, alternative="greater", vectorized=True)
        assert permutation_f({"a": a, "b": b}).p_value == pytest.approx(expected.pvalue), (a, b)


def test_sign_flips_of_n_pairs_have_a_floor() -> None:
    """Known: 0.25 at three, 0.0625 at five; the test of SciPy reaches it where all differences have one sign."""
    for n, floor in ((3, 0.25), (5, 0.0625)):
        exact = stats.permutation_test((np.arange(n) + 1.0,), np.mean, permutation_type="samples", n_resamples=np.inf)
        assert sign_flip_floor(n) == floor == pytest.approx(exact.pvalue)


def test_tukey_of_the_reference_losses() -> None:
    """The report says .019, .031, .923."""
    found = tukey(CHARLM)
    p_values = [found[frozenset(pair)] for pair in (("relu", "swish"), ("swish", "gelu"), ("relu", "gelu"))]
    assert p_values == pytest.approx([0.0269, 0.0301, 0.9951], abs=1e-4)


def test_welch_is_the_one_of_scipy() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=4), generator.normal(1, 3, size=7)
    expected = stats.ttest_ind(a, b, equal_var=False)
    difference, p_value = welch([*a, math.nan], b)
    assert (p_value, difference.n) == (pytest.approx(expected.pvalue), 11)
    assert (difference.low, difference.high) == pytest.approx(tuple(expected.confidence_interval()))


def test_holm_by_hand() -> None:
    """Holm 1979: 4 x .005, 3 x .01, then the running maximum of 2 x .03 and 1 x .04; NaN does not count."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.02, math.nan, 0.04]) == pytest.approx([0.04, math.nan, 0.04], nan_ok=True)
    assert holm([]).shape == (0,)


@given(P_VALUES, st.integers(0, 5))
def test_a_planned_test_without_a_result_counts_as_one(p_values: list[float], missing: int) -> None:
    """A part of a family is judged as the whole with p = 1 for the rest."""
    whole = holm([*p_values, *[1.0] * missing])
    assert holm(p_values, planned=len(p_values) + missing) == pytest.approx(whole[: len(p_values)])


@given(P_VALUES)
def test_holm_lies_between_raw_and_bonferroni_and_keeps_the_order(p_values: list[float]) -> None:
    raw, adjusted = np.array(p_values), holm(p_values)
    assert (adjusted >= raw).all()
    assert (adjusted <= np.minimum(1, len(raw) * raw) + 1e-12).all()
    assert (np.diff(adjusted[np.argsort(raw, kind="stable")]) >= 0).all()


def test_two_one_sided_tests_are_those_of_scipy() -> None:
    values = np.random.default_rng(3).normal(0.001, 0.004, 10)
    upper = stats.ttest_1samp(values, 0.005, alternative="less").pvalue
    lower = stats.ttest_1samp(values, -0.005, alternative="greater").pvalue
    assert equivalence_p(mean_interval(values), 0.005) == pytest.approx(max(upper, lower))
    assert equivalence_p(mean_interval([1.0]), 0.005) == 1
    with pytest.raises(BadInput, match="margin above 0"):
        equivalence_p(mean_interval(values), 0.0)


def test_arms_that_never_vary_or_are_missing() -> None:
    """No F between equal arms, an infinite one between different arms, none of single trials; never a warning."""
    same, apart = {"a": [0.1] * 3, "b": [0.1] * 3}, {"a": [0.1] * 3, "b": [0.3] * 3}
    single = {"a": [1.0], "b": [math.nan, 2.0]}
    assert math.isnan(one_way_anova(same).p_value)
    assert (one_way_anova(apart).statistic, one_way_anova(apart).p_value) == (math.inf, 0.0)
    assert all(math.isnan(test(single).p_value) for test in (one_way_anova, permutation_f))
    assert math.isnan(one_way_anova({"a": [], "b": []}).p_value)
    assert welch(apart["a"], apart["b"])[1] == pytest.approx(0)
    difference, p_value = welch(single["a"], single["b"])
    assert (difference.value, p_value) == (-1, pytest.approx(math.nan, nan_ok=True))


def test_bad_input_says_what_was_given() -> None:
    with pytest.raises(BadInput, match="at least two arms, got a"):
        one_way_anova({"a": [1.0, 2.0]})
    with pytest.raises(BadInput, match="relabellings"):
        permutation_f({"a": np.arange(12.0), "b": np.arange(12.0)})
    with pytest.raises(BadInput, match=r"\[0, 1\]"):
        holm([0.5, 1.5])
