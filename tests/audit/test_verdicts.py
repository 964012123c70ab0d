"""The functions by which numbers become verdicts."""

import math

import numpy as np
import pytest

from actlab.records.labels import WORDS
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval
from actlab.study.defects import DEFECTS
from actlab_audit import ledger
from actlab_audit.verdicts import (
    VERDICTS,
    Between,
    all_of,
    by_signs,
    expected,
    measured,
    signs,
    within,
)


def test_every_verdict_has_a_meaning_and_every_flaw_words():
    """No raw name of a switch is left to be read; every defect that can be switched on has words."""
    assert list(ledger._file()["meanings"]) == list(VERDICTS)
    assert set(WORDS) >= set(DEFECTS)


def test_expected_covers_a_mean_of_three_further_trials():
    """95% of the means of three new trials lie in the range made from five (5,000 simulations, seed 0); a published
    value's own error widens it: half widths add as squares."""
    generator = np.random.default_rng(0)
    inside = 0
    for _ in range(5000):
        span = expected(mean_interval(generator.normal(size=5)), 3)
        inside += span.low <= generator.normal(size=3).mean() <= span.high
    assert 0.93 <= inside / 5000 <= 0.97
    plain, wide = (expected(mean_interval([1.0, 2.0, 3.0, 4.0, 5.0]), 3, extra) for extra in (0.0, 2.0))
    assert (wide.high - 3) ** 2 == pytest.approx((plain.high - 3) ** 2 + (1.96 * 2) ** 2)


@pytest.mark.parametrize(
    ("ours", "published", "answer"),
    [
        ((9, 11), (10, 10), True),
        ((8.9, 11.1), (10, 10), "too wide"),
        ((10.5, 11), (10, 10), False),
        ((60, 600), (50, math.inf), True),
        ((40, 600), (50, math.inf), "too wide"),
        ((math.nan, math.nan), (10, 10), None),
    ],
)
def test_an_interval_is_too_wide_beyond_a_tenth(ours, published, answer):
    """9 to 11 about 10 is a test, 8.9 to 11.1 is none; inside a published range any width is; no interval: open."""
    assert within(Between(*ours), Between(*published)) == answer


def test_several_answers():
    """One false decides; otherwise one open leaves it open; nothing is not true."""
    cases = [
        [True, False, None],
        [True, None],
        [True, True],
        [],
        ["too wide", True],
        ["too wide", None],
    ]
    assert [all_of(x) for x in cases] == [False, None, True, None, "too wide", None]


def test_signs_are_adjusted_together():
    """A difference that is significant alone (p = 0.03) is not among five; a large one is, and keeps its sign."""
    generator, values = np.random.default_rng(1), np.arange(-2.0, 3.0)
    *noise, large = (mean_interval(shift + generator.normal(size=5)) for shift in (0, 0, 0, -10))
    alone = mean_interval(values + 3.3 * values.std(ddof=1) / 5**0.5)
    assert (signs([alone]), signs([*noise, alone, large])) == ([1], [0, 0, 0, 0, -1])
    assert [by_signs([large], -1), by_signs([large], 1), by_signs([large, noise[0]], -1)] == [True, False, None]


def test_a_measured_value_carries_its_n():
    """With its interval, or with the word that there is none."""
    assert measured(Estimate(0.5971, 0.59, 0.604, 3), 2) == "0.60 [0.59, 0.60], n = 3"
    assert measured(Estimate(0.5, np.nan, np.nan, 2)) == "0.500 [no interval], n = 2"
    assert measured(Estimate(np.nan, np.nan, np.nan, 0)) == "no value, n = 0"
