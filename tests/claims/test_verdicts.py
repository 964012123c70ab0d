"""The rules by which numbers become verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from actlab.claims.verdicts import (
    FLAWS,
    MEANINGS,
    VERDICTS,
    Between,
    Finding,
    all_of,
    by_signs,
    decided,
    elsewhere,
    expected,
    explained,
    ran,
    signs,
    unexplained,
    within,
)
from actlab.statistics.means import mean_interval
from actlab.study.defects import DEFECTS


def test_every_verdict_has_a_meaning_and_every_flaw_words() -> None:
    """No raw name of a switch is left to be read; a flaw is a defect that can be switched on."""
    assert list(MEANINGS) == list(VERDICTS)
    assert set(FLAWS) <= set(DEFECTS)


def test_ranges_in_words() -> None:
    """Large numbers are not written with an exponent."""
    assert str(Between(10e6, 15e6)) == "10,000,000 to 15,000,000"
    assert str(Between(0.5, 0.5)) == "0.5"


def test_words_follow_from_comparisons() -> None:
    """Each rule's two outcomes."""
    assert [ran(x, "").verdict for x in (True, False)] == ["replicated", "not yet tested"]
    verdicts = [decided(x, "", "").verdict for x in (True, False, None, "too wide")]
    assert verdicts == ["replicated", "contradicted", "not yet tested", "compatible"]


@pytest.mark.parametrize(
    ("without", "with_flaw", "verdict"),
    [
        (False, True, "artefact"),
        (True, True, "replicated"),
        (False, False, "contradicted"),
        (None, True, "not yet tested"),
    ],
)
def test_an_artefact_needs_both_outcomes(without: bool | None, with_flaw: bool, verdict: str) -> None:
    """It fails when done correctly and comes out with the flaw; anything else is judged as done correctly."""
    found = explained(decided(without, "off", ""), decided(with_flaw, "on", ""), "a flaw")
    assert found.verdict == verdict
    assert found.defect == ("a flaw" if verdict == "artefact" else "")


def test_expected_covers_a_mean_of_three_further_trials() -> None:
    """95% of the means of three new trials lie in the range made from five (5,000 simulations, seed 0)."""
    generator = np.random.default_rng(0)
    inside = 0
    for _ in range(5000):
        span = expected(mean_interval(generator.normal(size=5)), 3)
        inside += span.low <= generator.normal(size=3).mean() <= span.high
    assert 0.93 <= inside / 5000 <= 0.97


def test_expected_widens_by_the_reading_error() -> None:
    """A published accuracy read at few positions has an error of its own: half widths add as squares."""
    ours = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    plain, wide = expected(ours, 3), expected(ours, 3, extra=2.0)
    assert (wide.high - 3) ** 2 == pytest.approx((plain.high - 3) ** 2 + (1.96 * 2) ** 2)


def test_no_interval_leaves_it_open() -> None:
    """One trial excludes nothing."""
    assert within(expected(mean_interval([1.0]), 3), Between(5, 5)) is None


def test_all_of() -> None:
    """One false decides; otherwise one open leaves it open; nothing is not true."""
    assert [all_of(x) for x in ([True, False, None], [True, None], [True, True], [])] == [False, None, True, None]
    assert [all_of(x) for x in (["too wide", True], ["too wide", None], ["too wide", False])] == [
        "too wide",
        None,
        False,
    ]


def test_an_interval_is_too_wide_beyond_a_tenth() -> None:
    """9 to 11 about 10 is a test, 8.9 to 11.1 is none; inside a published range any width is."""
    ten = Between(10, 10)
    assert [within(span, ten) for span in (Between(9, 11), Between(8.9, 11.1), Between(10.5, 11))] == [
        True,
        "too wide",
        False,
    ]
    assert within(Between(60, 600), Between(50, math.inf)) is True
    assert within(Between(40, 600), Between(50, math.inf)) == "too wide"
    assert within(Between(math.nan, math.nan), ten) is None


def test_other_settings_say_nothing_for_or_against() -> None:
    """Outcomes at another scale are neither; what is an artefact there, or open, stays so."""
    for verdict in ("replicated", "compatible", "contradicted"):
        assert elsewhere(Finding(verdict, ""), "full").verdict == "not yet tested"  # type: ignore[arg-type]
    assert elsewhere(Finding("artefact", ""), "full").verdict == "artefact"


def test_an_untried_flaw_excuses_only_what_was_excluded() -> None:
    """Where our numbers agree, or no flaw is known, it changes nothing."""
    assert unexplained(Finding("contradicted", "x"), "a flaw").verdict == "not yet tested"
    assert unexplained(Finding("contradicted", "x"), "").verdict == "contradicted"
    assert unexplained(Finding("replicated", "x"), "a flaw").verdict == "replicated"


def test_signs_are_adjusted_together() -> None:
    """A difference that is sure alone (p = 0.03) is not among five; a large one is, and keeps its sign."""
    generator = np.random.default_rng(1)
    noise = [mean_interval(generator.normal(size=5)) for _ in range(4)]
    large = mean_interval(-10 + generator.normal(size=5))
    assert signs([*noise, large]) == [0, 0, 0, 0, -1]
    assert [by_signs([large], sign) for sign in (-1, 1)] == [True, False]
    assert by_signs([large, noise[0]], -1) is None
