"""What a running study shows: every kind of study's events, on a terminal and off it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from actlab.study import ablation, arms
from actlab.study.ablation import AblationParams
from actlab.study.params import Params
from actlab.study.progress import Event, StudyDisplay

RECORD = {"avg_val_loss": 1.25, "avg_val_accuracy": 50.0}


def shown(events: list[object], terminal: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=150, color_system=None, highlight=False)
    display = StudyDisplay(console)
    with display.progress:
        for event in events:
            display.watch(event)  # type: ignore[arg-type]
            display.progress.refresh()
    return console.file.getvalue()  # type: ignore[attr-defined]


def events_of(arm: object) -> list[object]:
    trial = arm.trials[0]  # type: ignore[attr-defined]
    return [
        Event("start", arm, total=3),
        Event("progress", arm, trial, 20, 2.5),
        Event("trial", arm, trial),
        Event("arm", arm, record=RECORD),
    ]


STUDIES = {
    "charlm-relu": arms.arms_of(Params())[0],
    "ecd-symmetric-gelu": ablation.arms_of(AblationParams())[0],
}


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("name", STUDIES)
def test_every_kind_of_study_is_shown(name: str, terminal: bool) -> None:
    """The trial in training with its iteration and loss on a terminal; one line an arm everywhere."""
    text = shown(events_of(STUDIES[name]), terminal)
    assert "loss 1.2500, accuracy 50.00%" in text
    assert (f"{name} 42" in text) == ("20/60" in text) == ("loss 2.500" in text) == terminal
