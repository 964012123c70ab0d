"""General rules that need no record: arithmetic, two statements, counts of parameters."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from scipy import stats

from actlab.activations import ACTIVATIONS
from actlab.claims import ledger, texts
from actlab.claims.published import numbers, parameters
from actlab.models import MODELS, SCALES, count_parameters


def test_arithmetic() -> None:
    """A stated number is right within its digits, or not; sums of products carry the range of what was printed."""
    for stated, verdict in ((6, "replicated"), ([5.95, 6.05], "replicated"), ([6.5, 7.5], "arithmetic error")):
        assert texts.arithmetic(None, stated, "x", {"total": {"terms": [[2, 4], [-2]]}}).verdict == verdict
    found = texts.arithmetic(None, 1, "hours", {"total": {"terms": [[3, [20, 30]]], "over": 60}})
    assert (found.verdict, found.ours) == ("replicated", "hours: 1 to 1.5")


def test_statements() -> None:
    """Ranges that meet and equal words agree; ranges that must be the same do not; words follow from numbers."""

    def verdict(first: Any, second: Any, exact: bool = False) -> str:
        return texts.contradiction(None, first, "here", second, "there", exact).verdict

    assert verdict([1, 3], [3, 4]) == verdict(["a", "b"], ["b", "a"]) == "replicated"
    assert verdict([1, 3], [3, 4], exact=True) == verdict(1, 2) == verdict(["a"], ["b"]) == "self-contradiction"
    assert (
        verdict(["a"], {"largest": {"a": 2, "b": 1}}) == verdict(["b"], {"smallest": {"a": 2, "b": 1}}) == "replicated"
    )
    assert verdict(-0.5, {"correlation": {"first": [6, 9, 3], "second": [45.9, 121.6, 158.5]}}) == "replicated"
    said = texts.contradiction(None, [0.5, 1], "stated", ["x"], "shown").ours
    assert said == "0.5 to 1 (stated) against x (shown)"


@pytest.mark.parametrize(
    ("id", "value", "tolerance"),
    [
        ("T01", 192.5 + 231.1 + 124.7 + 66.6 + 267.0 + 129.1, 1e-9),
        ("T02", 2.1517, 1e-3),
        ("T13", 33.43, 0.01),
        ("T15", stats.f.sf(8.32, 2, 6), 2e-5),
        ("T16", 0.0269, 5e-5),
        ("T17", 0.0301, 5e-5),
        ("T23", 262.1, 0.1),
        ("T24", (192.5 + 124.7 + 66.6) * 2 / 3 + 267.0 * 3 / 4, 1e-9),
        ("T44", (14.53 + 27.83 + 33.5 + 33.13 + 43.20 + 37.37) / 6, 1e-9),
        ("T63", 0.0032, 5e-5),
        ("R16", 0.952286, 1e-4),
        ("R52", (55 + 250) / 60, 1e-9),
    ],
)
def test_arithmetic_of_the_rows_by_hand(id: str, value: float, tolerance: float) -> None:
    """What a row's text gives, worked out apart; the statistics are SciPy's of the nine published runs."""
    claim = next(claim for claim in ledger.claims() if claim.id == id)
    ((name, arguments),) = claim.arguments["follows"].items()
    found = texts.DERIVED[name](**arguments)
    assert isinstance(found, texts.Between)
    assert (found.low + found.high) / 2 == pytest.approx(value, abs=tolerance)


def test_tukey_is_scipys() -> None:
    """The published trials are those of the stated F; the row's p is Tukey's."""
    table = [numbers.charlm_trials[a] for a in ("swish", "relu", "gelu")]
    assert stats.f_oneway(*table).statistic == pytest.approx(numbers.anova["statistic"], abs=0.03)
    for other, column in (("relu", 1), ("gelu", 2)):
        found = texts.DERIVED["tukey_p"](first="swish", second=other)
        assert isinstance(found, texts.Between)
        assert found.low == pytest.approx(stats.tukey_hsd(*table).pvalue[0, column], rel=1e-6)


def test_parameters_are_those_of_the_models(subtests: pytest.Subtests) -> None:
    """Built without filling it with numbers, every model has as many parameters as the ledger says, at every scale."""
    assert set(numbers.our_parameters) == set(MODELS)
    for model, counts in numbers.our_parameters.items():
        assert tuple(counts) == ("lite", "partial", "full")
        for scale in counts:
            with subtests.test(scale=scale, model=model), torch.device("meta"):
                built = MODELS[model].factory(SCALES[scale], ACTIVATIONS["relu"], "matched")
                assert parameters(model, scale) == count_parameters(built)


def test_a_stated_count() -> None:
    """Every model named must have as many as stated."""
    for stated, verdict in (((425e3, 435e3), "replicated"), ((429e3, 435e3), "contradicted")):
        assert texts.parameters(None, stated, "lite", ["charlm", "nanotransformer"]).verdict == verdict
