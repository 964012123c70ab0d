"""Sentences' small pieces."""

from __future__ import annotations

from actlab.wording import bullets, capital


def test_bullets_leave_out_what_is_empty() -> None:
    """One line a sentence, capital first, full stop last."""
    assert bullets(["one", "", "two"]).data == "- One.\n- Two."


def test_capital_changes_the_first_letter_alone() -> None:
    assert [capital(text) for text in ("of GeGLU", "GeGLU at", "")] == ["Of GeGLU", "GeGLU at", ""]
