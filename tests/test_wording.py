"""Sentences' small pieces."""

from __future__ import annotations

import math

from actlab.statistics.estimate import Estimate
from actlab.wording import bullets, capital, measured


def test_bullets_leave_out_what_is_empty() -> None:
    """One line a sentence, capital first, full stop last; no sentence twice."""
    assert bullets(["one", "", "two", "one"]).data == "- One.\n- Two."


def test_capital_changes_the_first_letter_alone() -> None:
    assert [capital(text) for text in ("of GeGLU", "GeGLU at", "")] == ["Of GeGLU", "GeGLU at", ""]


def test_a_measured_value_carries_its_n() -> None:
    """With its interval, or with the word that there is none."""
    assert measured(Estimate(0.5971, 0.59, 0.604, 3, 0.95, "m"), 2, " nats") == "0.60 nats [0.59, 0.60], n = 3"
    assert measured(Estimate(0.5, math.nan, math.nan, 2, 0.95, "m")) == "0.500 [no interval], n = 2"
