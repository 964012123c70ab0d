"""What TensorBoard and W&B are given of a running study; both are stood in for."""

import io
import sys
from unittest.mock import MagicMock

import pytest
from rich.console import Console

from actlab.cli.display import StudyDisplay
from actlab.cli.tracking import tracker
from actlab.errors import BadInput
from actlab.study.run import Started, Training

EVENTS = [Started(2, 0), Training("charlm-relu", "42", 60, 3, 2.5)]


def track(name, folder, events=EVENTS):
    """Show some events of a study that is tracked."""
    with tracker(name, folder) as log, StudyDisplay(Console(file=io.StringIO()), log) as display:
        for event in events:
            display.watch(event)


def test_progress_is_tracked(monkeypatch, tmp_path):
    """A curve a trial; without a tracker nothing is written."""
    board = MagicMock()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    written = board.SummaryWriter.return_value.__enter__.return_value.add_scalar
    track("", tmp_path)
    assert not written.called
    track("tensorboard", tmp_path)
    assert board.SummaryWriter.call_args.args == (str(tmp_path / "tensorboard"),)
    written.assert_called_once_with("charlm-relu/42", 2.5, 3)


def test_a_study_is_a_run_of_wandb(monkeypatch, tmp_path):
    """A curve a trial, against the iteration."""
    wandb = MagicMock()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.delenv("WANDB_PROJECT", raising=False)
    track("wandb", tmp_path / "repro-quick")
    wandb.init.assert_called_once_with(project="actlab", name="repro-quick", dir=str(tmp_path / "repro-quick"))
    run = wandb.init.return_value.__enter__.return_value
    run.define_metric.assert_called_once_with("*", step_metric="iteration")
    run.log.assert_called_once_with({"charlm-relu/42": 2.5, "iteration": 3})


def test_a_tracker_that_is_not_there_is_told_at_once(monkeypatch, tmp_path):
    """With the extra that brings it."""
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(BadInput, match=r"--track wandb.*is not installed; .*\[wandb\]"):
        track("wandb", tmp_path, [])
