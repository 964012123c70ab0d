"""Sentences' small pieces."""

from __future__ import annotations

from actlab.wording import bullets


def test_bullets_leave_out_what_is_empty() -> None:
    """One line a sentence, capital first, full stop last."""
    assert bullets(["one", "", "two"]).data == "- One.\n- Two."
