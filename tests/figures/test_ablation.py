"""The ablation's figures: what is missing is written out, and the estimates' own numbers."""

from __future__ import annotations

import pytest
from tests.support.ablations import made_up, record, records
from tests.support.drawn import ABLATION as DRAWINGS
from tests.support.drawn import words

from actlab.records import ablation


def test_part_of_a_study_is_drawn() -> None:
    """Missing arms and single seeds are no errors."""
    for draw in DRAWINGS.values():
        draw(ablation.read([*records(("ecd",))[:3], record("adamw", "bQbV", "gelu", seeds=1)])).draw_without_rendering()


def test_an_arm_that_is_not_recorded_is_named() -> None:
    """Not a gap without a word."""
    assert "not run" in words(DRAWINGS["arms"](ablation.read(records(("ecd", "adamw"))[:-1])))
    assert "not run" not in words(DRAWINGS["arms"](made_up()))


def test_marks_stand_at_the_estimates() -> None:
    """Points and bars of the gains are the estimates that the sentences print."""
    found = ablation.gains(made_up())
    left = DRAWINGS["gains"](made_up()).axes[0]
    heights = sorted(
        line.get_ydata()[0] for line in left.lines if len(line.get_ydata()) == 1 and line.get_marker() in ("s", "o")
    )
    assert heights == pytest.approx(sorted(e.value for e in found.values()))
    segments = [segment for bars in left.collections for segment in bars.get_segments() if len(segment)]
    lows = sorted(segment[:, 1].min() for segment in segments)
    assert lows == pytest.approx(sorted(e.low for e in found.values()))


def test_a_rate_that_throws_training_off_is_written_out() -> None:
    """A loss of 397 nats is a number at the edge, and the other losses keep their scale."""
    lost = record("ecd", "bQbV", "gelu", 10.0)
    for trial in lost["trials"]:
        trial["final"] = trial["final"] | {"val_loss": 397.0}
    figure = DRAWINGS["rates"](ablation.read([*records(("ecd", "adamw")), lost]))
    assert "397" in words(figure)
    assert figure.axes[0].get_ylim()[1] < 10
