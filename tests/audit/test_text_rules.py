"""General rules that need no record: arithmetic, two statements, counts of parameters."""

import numpy as np
import pytest
import yaml
from scipy import stats

from actlab_audit import ledger, numbers
from actlab_audit import text_rules as texts


def test_arithmetic():
    """A stated number is right within its digits, or not; sums of products carry the range of what was printed."""
    for stated, verdict in ((6, "checks out"), ([5.95, 6.05], "checks out"), ([6.5, 7.5], "arithmetic error")):
        assert texts.arithmetic(stated, "x", {"total": {"terms": [[2, 4], [-2]]}}).verdict == verdict
    assert texts.arithmetic(1, "hours", {"total": {"terms": [[3, [20, 30]]], "over": 60}}).ours == "hours: 1 to 1.5"
    assert texts.arithmetic([2, 3], "x", {"total": {"terms": [[[1, 2]]]}}).verdict == "checks out", "ranges that meet"


STATEMENTS = yaml.safe_load("""
- [[1, 3], [3, 4], checks out]
- [[1 to 3], [3 to 4], self-contradiction]
- [1, 2, self-contradiction]
- [[a, b], [b, a], checks out]
- [[a], [b], self-contradiction]
- [[a], {largest: {a: 2, b: 1}}, checks out]
- [[b], {smallest: {a: 2, b: 1}}, checks out]
- [-0.5, {correlation: {first: [6, 9, 3], second: [45.9, 121.6, 158.5]}}, checks out]
""")


@pytest.mark.parametrize(("first", "second", "verdict"), STATEMENTS)
def test_statements(first, second, verdict):
    """Ranges that meet and equal words agree; ranges that must be the same are words; words follow from numbers."""
    assert texts.contradiction(first, "here", second, "there").verdict == verdict


TRIALS = [numbers.charlm_trials[a] for a in ("swish", "relu", "gelu")]


@pytest.mark.parametrize(
    ("id", "value"),
    [
        ("T15", stats.f.sf(8.32, 2, 6)),
        ("T16", stats.tukey_hsd(*TRIALS).pvalue[0, 1]),
        ("T17", stats.tukey_hsd(*TRIALS).pvalue[0, 2]),
        ("T24", (192.5 + 124.7 + 66.6) * 2 / 3 + 267.0 * 3 / 4),
        ("T01", 881.9),
    ],
)
def test_arithmetic_of_the_rows_by_hand(id, value):
    """What a row's text gives, worked out apart; the statistics are SciPy's of the nine published runs."""
    found = texts._statement(ledger.claims()["arguments"][id]["follows"])
    assert isinstance(found, texts.Between)
    assert (found.low + found.high) / 2 == pytest.approx(value, rel=1e-4)


def test_a_stated_count_of_parameters_holds_for_every_model_named():
    """charlm has 429,824 and nanotransformer 428,800 (``models/test_counts``)."""
    for stated, verdict in (((425e3, 435e3), "checks out"), ((429e3, 435e3), "counted otherwise")):
        assert texts.parameters(stated, "lite", ["charlm", "nanotransformer"]).verdict == verdict


def test_trials_for_a_power():
    """T90: 17 and 26 an arm, no fewer, show 1 and 0.8 standard deviations in 80% (two-sided, 5%; Cohen 1988)."""
    n, effect = np.array([16, 17, 25, 26]), np.array([1, 1, 0.8, 0.8])
    power = stats.ncf.sf(stats.f.isf(0.05, 1, 2 * n - 2), 1, 2 * n - 2, effect**2 * n / 2)
    assert (power > 0.8).tolist() == [False, True, False, True]


def test_coverage_of_a_bootstrapped_best():
    """M09, by simulation: for 8 scores the limits are the third highest and the highest; 1.4236 is expected."""
    scores = np.sort(np.random.default_rng(0).normal(size=(100_000, 8)))
    assert texts._covered(8) == pytest.approx(np.mean((scores[:, 5] <= 1.4236) & (scores[:, 7] >= 1.4236)), abs=0.01)
