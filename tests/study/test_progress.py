"""What a running study shows, on a terminal and off it."""

import io
import math
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from rich.console import Console

from actlab.cli import display as progress
from actlab.cli.display import StudyDisplay
from actlab.study.run import Ended, Recorded, Started, Training
from actlab.study.tokens import TokenStudy

RECORD = {"avg_val_loss": 1.25, "avg_val_accuracy": 50.0}


@pytest.mark.parametrize("terminal", [False, True])
def test_a_study_is_shown(terminal):
    """The trial in training with its iteration and loss on a terminal; one line an arm everywhere."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=150, color_system=None, highlight=False)
    display, one = StudyDisplay(console, Mock()), TokenStudy().arms()[0]
    trial = one.trials[0]
    failed = {"status": "failed", "error": "MemoryError: no more"}
    diverged = {"status": "diverged", "history": [{"iteration": 120, "train_loss": 2.0, "val_loss": math.nan}]}
    with display:
        for event in (
            Started(3, cached=2),
            Training(one.name, trial.label, trial.iterations, 20, 2.5),
            Ended(one.name, trial.label, {"status": "done"}, False),
            Ended(one.name, trial.label, diverged, False),
            Ended(one.name, trial.label, failed, False),
            Recorded(one.name, RECORD | {"avg_total_variation": math.nan}),
            Recorded(one.name, RECORD | {"avg_total_variation": 0.1}),
            Recorded(one.name, RECORD | {"trials": [{"status": "failed"}]}),
        ):
            display.watch(event)
            display.refresh()
    text = console.file.getvalue()
    assert "loss 1.2500, accuracy 50.00%" in text
    assert f"{one.name}: failed" in text
    assert ("TV 0.1000" in text, "TV nan" in text) == (True, False)
    assert ("20/60" in text) == ("loss 2.500" in text) == terminal
    assert "3 trials to train, 2 cached" in text
    assert "ecd-symmetric-gelu 42: diverged by step 120" in text
    assert "ecd-symmetric-gelu 42: failed: MemoryError: no more" in text


def test_the_time_that_is_left_follows_from_what_was_trained(monkeypatch):
    """One of three and half of another in 30 s leave the same 30 s; without a trained step there is no time to tell;
    what comes from the cache took none."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock.now)
    one = TokenStudy().arms()[0]
    display = StudyDisplay(Console(file=io.StringIO()), Mock())
    display.watch(Started(3, cached=2))
    assert display.progress() == "0 of 3 trials trained, 0 running"
    for cached in (False, True, True):  # a plan's last arm may be the one in the cache
        display.watch(Ended(one.name, "42", {"status": "done"}, cached))
        assert display.progress().startswith("1 of 3 trials trained")
    clock.now = 30.0
    display.watch(Training(one.name, "42", 60, 30, 2.5))
    assert display.progress() == "1 of 3 trials trained, 1 running, about 30 s left"
