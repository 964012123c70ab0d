"""What TensorBoard and W&B are given of a running study; both are stood in for."""

import sys
from unittest.mock import MagicMock, Mock, call

import pytest

from actlab.cli.tracking import tracked
from actlab.errors import BadInput
from actlab.study.run import Recorded, Started, Training

HISTORY = [{"iteration": 0, "train_loss": 4.0, "val_loss": 4.5}]
RECORD = {"config": {"scale": "lite"}, "trials": [{"label": "42", "history": HISTORY}, {"label": "43"}]}
EVENTS = [Training("charlm-relu", "42", 60, 3, 2.5), Recorded("charlm-relu", RECORD)]


@pytest.fixture
def wandb(monkeypatch):
    """W&B to which one is logged in; every run of it is another one."""
    wandb = MagicMock()
    wandb.init.side_effect = lambda **_: Mock()
    monkeypatch.setitem(sys.modules, "wandb", wandb)
    return wandb


def give(name, folder, events):
    """Track some events; what the display was shown."""
    seen = []
    with tracked(name, folder, seen.append) as watch:
        for event in events:
            watch(event)
    return seen


def test_progress_and_evaluations_are_tracked(monkeypatch, tmp_path):
    """Every event reaches the display too; without a tracker nothing is written."""
    board = MagicMock()
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", board)
    written = board.SummaryWriter.return_value.add_scalar
    for name, rows in (("", 0), ("tensorboard", 3)):
        assert (give(name, tmp_path, EVENTS), written.call_count) == (EVENTS, rows)
    assert board.SummaryWriter.call_args.args == (str(tmp_path / "tensorboard"),)
    assert written.call_args_list[0].args == ("charlm-relu/42/train_loss", 2.5, 3)
    assert written.call_args.args == ("charlm-relu/42/evaluated_val_loss", 4.5, 0)


def test_each_trial_is_a_run_of_wandb(wandb, monkeypatch, tmp_path):
    """In the group of its study, against the iteration; it ends with its arm, as failed where that is not recorded."""
    monkeypatch.delenv("WANDB_PROJECT", raising=False)
    runs = [Mock(), Mock()]
    wandb.init.side_effect = runs
    events = [Started(2), *EVENTS, Training("charlm-gelu", "42", 60, 5, 2.0)]
    assert give("wandb", tmp_path / "repro-quick", events) == events
    asked = [each.kwargs for each in wandb.init.call_args_list]
    assert [each["name"] for each in asked] == ["charlm-relu 42", "charlm-gelu 42"]
    assert {(each["project"], each["group"]) for each in asked} == {("actlab", "repro-quick")}
    relu, gelu = runs
    evaluated = {"evaluated_train_loss": 4.0, "evaluated_val_loss": 4.5}
    assert relu.log.call_args_list == [call({"iteration": 3, "train_loss": 2.5}), call({"iteration": 0} | evaluated)]
    relu.define_metric.assert_called_once_with("*", step_metric="iteration")
    relu.config.update.assert_called_once_with(RECORD["config"])
    assert (relu.finish.call_args, gelu.finish.call_args) == (call(), call(exit_code=1))


@pytest.mark.parametrize(("name", "module", "extra"), [
    ("tensorboard", "torch.utils.tensorboard", "track"), ("wandb", "wandb", "wandb"),
])  # fmt: skip
def test_a_tracker_that_is_not_there_is_told_at_once(name, module, extra, monkeypatch, tmp_path):
    """With the extra that brings it."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(BadInput, match=rf"--track {name}.*is not installed; .*\[{extra}\]"):
        give(name, tmp_path, [])
