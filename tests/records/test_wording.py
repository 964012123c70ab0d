"""Sentences' small pieces."""

import math

import pytest

from actlab.records.wording import (
    above_zero,
    ends,
    measured,
    small,
    span,
    with_interval,
)
from actlab.statistics.estimate import Estimate


def test_what_cannot_be_negative_has_its_interval_on_a_log_scale():
    """The same standard error, as a factor either way; 0 and a missing interval stay as they are."""
    found = above_zero(Estimate(0.1, -0.1, 0.3, 5, "m"))
    assert (found.low, found.high) == pytest.approx((0.1 * math.exp(-2), 0.1 * math.exp(2)))
    for same in (Estimate(0.0, 0.0, 0.0, 5, "m"), Estimate(0.0, -0.1, 0.1, 5, "m")):
        assert above_zero(same) == same
    assert math.isnan(above_zero(Estimate(0.1, math.nan, math.nan, 2, "m")).low)


def test_small_numbers():
    """Powers of ten below 0.0001 only; 0 is exact."""
    values = (0.0, 12.0, 0.0076, 0.02, 1e-4, 9.9e-5, -3e-8)
    assert [small(value) for value in values] == ["0", "12", "0.0076", "0.020", "0.00010", "9.9e-05", "-3.0e-08"]


def test_a_measured_value_carries_its_n():
    """With its interval, or with the word that there is none."""
    assert measured(Estimate(0.5971, 0.59, 0.604, 3, "m"), 2, " nats") == "0.60 nats [0.59, 0.60], n = 3"
    assert measured(Estimate(0.5, math.nan, math.nan, 2, "m")) == "0.500 [no interval], n = 2"
    assert measured(Estimate(math.nan, math.nan, math.nan, 0, "m")) == "no value, n = 0"


def test_intervals_in_text():
    """Value and limits; the value alone without limits; words without a value; the ends of many, once."""
    assert with_interval(Estimate(0.12345, 0.1, 0.2, 5, "m")) == "0.1235 [0.1000, 0.2000]"
    assert with_interval(Estimate(0.12345, math.nan, math.nan, 2, "m"), 2) == "0.12"
    assert [with_interval(Estimate(math.nan, math.nan, math.nan, n, "m")) for n in (1, 4)] == ["no pair", "NaN"]
    assert [span([3, 5, 4]), span([3, 3.2])] == ["3 to 5", "3"]
    assert [ends({"a": 2, "b": 1}), ends({"a": 1})] == [["b", "a"], ["a"]]
