"""The functions by which numbers become verdicts."""

import math

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats

from actlab.records.defect_names import DEFECTS
from actlab.records.labels import WORDS
from actlab_audit import ledger
from actlab_audit.verdicts import (
    LACKS,
    Between,
    expected,
    measured,
    positive,
    signs,
    within,
)


def test_every_verdict_has_a_meaning_and_every_flaw_words():
    """No raw name of a switch is left to be read; every defect that can be switched on has words."""
    assert {*LACKS} < {*ledger.parts()["meanings"]}
    assert set(WORDS) >= set(DEFECTS)


def estimate(value, low=math.nan, high=math.nan, n=3):
    return pd.Series({"estimate": value, "low": low, "high": high, "n": n})


def interval(values):
    """A mean with its t interval, by SciPy."""
    found = stats.ttest_1samp(values, 0)
    return estimate(np.mean(values), *found.confidence_interval(), len(values))


def test_expected_covers_a_mean_of_three_further_trials():
    """95% of the means of three new trials lie in the range made from five (2,000 simulations, seed 0); a published
    value's own error widens it: half widths add as squares."""
    generator = np.random.default_rng(0)
    ours, further = generator.normal(size=(2000, 5)), generator.normal(size=(2000, 3)).mean(axis=1)
    half = stats.t.ppf(0.975, 4) * stats.sem(ours, axis=1)
    spans = [expected(estimate(m, m - h, m + h, 5), 3) for m, h in zip(ours.mean(axis=1), half, strict=True)]
    inside = [span.low <= mean <= span.high for span, mean in zip(spans, further, strict=True)]
    assert 0.93 <= np.mean(inside) <= 0.97
    plain, wide = (expected(interval([1.0, 2.0, 3.0, 4.0, 5.0]), 3, extra) for extra in (0.0, 2.0))
    assert (wide.high - 3) ** 2 == pytest.approx((plain.high - 3) ** 2 + (1.96 * 2) ** 2)


WIDTHS = yaml.safe_load("""
- [[9, 11], [10, 10], replicated]
- [[8.9, 11.1], [10, 10], compatible]
- [[10.5, 11], [10, 10], contradicted]
- [[60, 600], [50, .inf], replicated]
- [[40, 600], [50, .inf], compatible]
- [[.nan, .nan], [10, 10], undecided]
""")


@pytest.mark.parametrize(("ours", "published", "verdict"), WIDTHS)
def test_an_interval_is_too_wide_beyond_a_tenth(ours, published, verdict):
    """9 to 11 about 10 is a test, 8.9 to 11.1 is none; inside a published range any width is; no interval: open."""
    assert within(Between(*ours), Between(*published)) == verdict


def test_signs_are_those_that_are_significant_together():
    """Adjusted p-values count, and a difference keeps its sign."""
    table = pd.DataFrame({"difference": [1.0, -10.0, 0.1], "p": [0.03, 1e-4, 0.7], "p_holm": [0.06, 3e-4, 0.7]})
    assert signs(table).tolist() == [0, -1, 0]


def test_a_measured_value_carries_its_n():
    """With its interval, or with the word that there is none; on a logarithmic scale it never reaches 0."""
    assert measured(estimate(0.5971, 0.59, 0.604), ".2f") == "0.60 [0.59, 0.60], n = 3"
    assert measured(estimate(0.5, n=2)) == "0.500 [no interval], n = 2"
    assert measured(estimate(math.nan, n=0)) == "no value, n = 0"
    wide = positive(estimate(0.04, -0.07, 0.15))
    assert (wide["low"] * wide["high"], math.log(wide["high"] / wide["low"])) == pytest.approx((0.04**2, 0.22 / 0.04))
