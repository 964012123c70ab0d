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
from actlab.statistics import holm, one_way_anova, tukey, welch

CHARLM = {
    "relu": [1.55377, 1.55269, 1.56011],
    "gelu": [1.55847, 1.52676, 1.57674],
    "swish": [1.47377, 1.51979, 1.49850],
}
"""Final validation losses of CharLM at full scale, seeds 42 to 44, as the reference study committed them."""
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def test_one_way_anova_of_the_reference_losses() -> None:
    """The report says F = 8.32, p = 0.024; its own values give p = 0.0185."""
    found = one_way_anova(CHARLM)
    assert (found.statistic, found.p_value) == pytest.approx((8.341, 0.01851), rel=2e-3)
    assert (found.degrees, found.n) == ((2, 6), 9)
    assert "statistic(2, 6)" in str(found)


def test_one_way_anova_is_the_one_of_scipy() -> None:
    generator = np.random.default_rng(0)
    arms = {name: generator.normal(size=size) for name, size in (("a", 3), ("b", 5), ("c", 4))}
    expected = stats.f_oneway(*arms.values())
    found = one_way_anova({**arms, "empty": [math.nan]})
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))


def test_tukey_of_the_reference_losses() -> None:
    """The report says .019, .031, .923."""
    found = {(pair.first, pair.second): pair for pair in tukey(CHARLM)}
    assert found["relu", "swish"].p_value == pytest.approx(0.0269, abs=1e-4)
    assert found["gelu", "swish"].p_value == pytest.approx(0.0301, abs=1e-4)
    assert found["relu", "gelu"].p_value == pytest.approx(0.9951, abs=1e-4)
    assert found["relu", "swish"].difference.excludes(0)
    assert not found["relu", "gelu"].difference.excludes(0)


def test_welch_is_the_one_of_scipy() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(size=4), generator.normal(1, 3, size=7)
    expected = stats.ttest_ind(a, b, equal_var=False)
    difference, p_value = welch(a, b)
    assert p_value == pytest.approx(expected.pvalue)
    assert (difference.low, difference.high) == pytest.approx(tuple(expected.confidence_interval()))


def test_holm_by_hand() -> None:
    """Holm 1979: 4 x .005, 3 x .01, then the running maximum of 2 x .03 and 1 x .04."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]).shape == (0,)


def test_holm_leaves_out_tests_that_could_not_be_made() -> None:
    assert holm([0.02, math.nan, 0.04]) == pytest.approx([0.04, math.nan, 0.04], nan_ok=True)


@given(P_VALUES)
def test_holm_lies_between_raw_and_bonferroni_and_keeps_the_order(p_values: list[float]) -> None:
    raw, adjusted = np.array(p_values), holm(p_values)
    assert (adjusted >= raw).all()
    assert (adjusted <= np.minimum(1, len(raw) * raw) + 1e-12).all()
    assert (np.diff(adjusted[np.argsort(raw, kind="stable")]) >= 0).all()


def test_arms_that_never_vary() -> None:
    """A model whose trials agree exactly: no F between equal arms, an infinite one between different arms; never a
    warning."""
    same, apart = {"a": [0.1] * 3, "b": [0.1] * 3}, {"a": [0.1] * 3, "b": [0.3] * 3}
    assert math.isnan(one_way_anova(same).p_value)
    assert (one_way_anova(apart).statistic, one_way_anova(apart).p_value) == (math.inf, 0.0)
    assert welch(apart["a"], apart["b"])[1] == 0


def test_missing_trials_give_no_p_value() -> None:
    arms = {"a": [1.0], "b": [math.nan, 2.0]}
    assert math.isnan(one_way_anova(arms).p_value)
    assert tukey(arms) == []
    difference, p_value = welch(arms["a"], arms["b"])
    assert difference.value == -1
    assert math.isnan(p_value)
    assert math.isnan(one_way_anova({"a": [], "b": []}).p_value)


def test_bad_input_says_what_was_given() -> None:
    with pytest.raises(BadInput, match="at least two arms, got a"):
        one_way_anova({"a": [1.0, 2.0]})
    with pytest.raises(BadInput, match=r"\[0, 1\]"):
        holm([0.5, 1.5])
    with pytest.raises(BadInput, match="got 2"):
        tukey(CHARLM, level=2)
