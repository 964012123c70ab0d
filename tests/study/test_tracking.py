"""What TensorBoard and W&B are given of a running study; both are stood in for."""

import sys
from unittest.mock import MagicMock

import pytest

from actlab.cli.tracking import tracked
from actlab.errors import BadInput
from actlab.study.run import Started, Training

EVENTS = [Started(2), Training("charlm-relu", "42", 60, 3, 2.5)]


def give(name, folder, events):
    """Track some events; what the display was shown."""
    seen = []
    with tracked(name, folder, seen.append) as watch:
        for event in events:
            watch(event)
    return seen


def test_progress_is_tracked(monkeypatch, tmp_path):
    """Every event reaches the display too; without a tracker nothing is written."""
    board = MagicMock()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    written = board.SummaryWriter.return_value.__enter__.return_value.add_scalar
    for name, rows in (("", 0), ("tensorboard", 1)):
        assert (give(name, tmp_path, EVENTS), written.call_count) == (EVENTS, rows)
    assert board.SummaryWriter.call_args.args == (str(tmp_path / "tensorboard"),)
    assert written.call_args.args == ("charlm-relu/42", 2.5, 3)


def test_a_study_is_a_run_of_wandb(monkeypatch, tmp_path):
    """A curve a trial, against the iteration."""
    wandb = MagicMock()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    monkeypatch.delenv("WANDB_PROJECT", raising=False)
    assert give("wandb", tmp_path / "repro-quick", EVENTS) == EVENTS
    wandb.init.assert_called_once_with(project="actlab", name="repro-quick", dir=str(tmp_path / "repro-quick"))
    run = wandb.init.return_value.__enter__.return_value
    run.define_metric.assert_called_once_with("*", step_metric="iteration")
    run.log.assert_called_once_with({"charlm-relu/42": 2.5, "iteration": 3})


def test_a_tracker_that_is_not_there_is_told_at_once(monkeypatch, tmp_path):
    """With the extra that brings it."""
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(BadInput, match=r"--track wandb.*is not installed; .*\[wandb\]"):
        give("wandb", tmp_path, [])
