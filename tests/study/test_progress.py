"""What a running study shows, on a terminal and off it, and what TensorBoard is given."""

import io
import math
import sys
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from rich.console import Console

from actlab.errors import BadInput
from actlab.study import ablation
from actlab.study.ablation import AblationParams
from actlab.study.progress import Event, StudyDisplay, tracked

RECORD = {"avg_val_loss": 1.25, "avg_val_accuracy": 50.0}


@pytest.mark.parametrize("terminal", [False, True])
def test_a_study_is_shown(terminal):
    """The trial in training with its iteration and loss on a terminal; one line an arm everywhere."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=150, color_system=None, highlight=False)
    display, one = StudyDisplay(console), ablation.arms_of(AblationParams())[0]
    trial = one.trials[0]
    with display.progress:
        for event in (
            Event("start", one, total=3),
            Event("progress", one, trial, 20, 2.5),
            Event("trial", one, trial),
            Event("arm", one, record=RECORD | {"avg_total_variation": math.nan}),
            Event("arm", one, record=RECORD | {"avg_total_variation": 0.1}),
            Event("arm", one, record=RECORD | {"trials": [{"status": "failed"}]}),
        ):
            display.watch(event)
            display.progress.refresh()
    text = console.file.getvalue()
    assert "loss 1.2500, accuracy 50.00%" in text
    assert f"{one.id}: failed" in text
    assert ("TV 0.1000" in text, "nan" in text) == (True, False)
    assert ("ecd-symmetric-gelu 42" in text) == ("20/60" in text) == ("loss 2.500" in text) == terminal
    assert ("3 trials to train" in text) != terminal


def test_progress_and_evaluations_are_tracked(monkeypatch, tmp_path):
    """Every event reaches the display too; without a tracker nothing is written."""
    board = MagicMock()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    written = board.SummaryWriter.return_value.__enter__.return_value.add_scalar
    arm, trial = SimpleNamespace(id="charlm-relu"), SimpleNamespace(label="42")
    history = [{"iteration": 0, "train_loss": 4.0, "val_loss": 4.5}]
    record = {"trials": [{"label": "42", "history": history}]}
    events = [Event("progress", arm, trial, 3, 2.5), Event("arm", arm, record=record)]
    for name, rows in (("", 0), ("tensorboard", 3)):
        seen = []
        with tracked(name, tmp_path, seen.append) as watch:
            for event in events:
                watch(event)
        assert (seen, written.call_count) == (events, rows)
    assert written.call_args_list[0].args == ("charlm-relu/42/train_loss", 2.5, 3)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(BadInput, match="needs the extra"), tracked("tensorboard", tmp_path, print):
        pass
