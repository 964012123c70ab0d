"""Tests between arms: the numbers recomputed from the reference study's CharLM losses, SciPy, and what degenerate data
give; power and minimum detectable effects."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actlab.statistics.significance import detectable_paired, holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


def test_holm_by_hand():
    """Holm 1979: 4 x .005, 3 x .01, then the running maximum of 2 x .03 and 1 x .04; NaN does not count."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.02, math.nan, 0.04]) == pytest.approx([0.04, math.nan, 0.04], nan_ok=True)
    assert holm([]).shape == (0,)


@given(P_VALUES, st.integers(0, 5))
def test_a_planned_test_without_a_result_counts_as_one(p_values, missing):
    """A part of a family is judged as the whole with p = 1 for the rest."""
    whole = holm([*p_values, *[1.0] * missing])
    assert holm(p_values, planned=len(p_values) + missing) == pytest.approx(whole[: len(p_values)])


def test_detectable_differences_are_those_of_published_tables():
    """Paired, and paired at the first step of Holm over thirty."""
    for alpha, table in ((0.05, {3: 3.26, 5: 1.68, 10: 1.00}), (0.05 / 30, {5: 4.19, 10: 1.74, 20: 1.03})):
        assert {n: detectable_paired(n, alpha) for n in table} == pytest.approx(table, abs=0.006)
