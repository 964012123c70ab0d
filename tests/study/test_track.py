"""Live loss curves: what TensorBoard is given; nothing else changes, and a missing package is said before training."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from actlab.errors import BadInput, UnknownName
from actlab.study import progress as track
from actlab.study.progress import Event

ARM, TRIAL = SimpleNamespace(id="charlm-relu"), SimpleNamespace(label="42")


class Writer:
    """Stands in for TensorBoard's."""

    rows: list[tuple[str, float, int]] = []  # noqa: RUF012

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *error: object) -> None: ...

    def add_scalar(self, *row: object) -> None:
        self.rows.append(row)  # type: ignore[arg-type]

    def flush(self) -> None: ...


def test_progress_and_evaluations_are_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every event reaches the display too; without a tracker nothing is written."""
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Writer))
    history = [{"iteration": 0, "train_loss": 4.0, "val_loss": 4.5}]
    events = [
        Event("progress", ARM, TRIAL, 3, 2.5),
        Event("arm", ARM, record={"trials": [{"label": "42", "history": history}]}),
    ]
    for name, rows in (("tensorboard", 3), ("", 0)):
        seen: list[Event] = []
        Writer.rows.clear()
        with track.tracked(name, tmp_path, seen.append) as watch:
            for event in events:
                watch(event)
        assert (seen, len(Writer.rows)) == (events, rows)
    with track.tracked("tensorboard", tmp_path, seen.append) as watch:
        watch(events[0])
    assert Writer.rows == [("charlm-relu/42/train_loss", 2.5, 3)]


def test_what_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    for name, error, words in (
        ("tensorboard", BadInput, "needs the extra"),
        ("wandb", UnknownName, "known are tensorboard"),
    ):
        with pytest.raises(error, match=words), track.tracked(name, tmp_path, print):
            pass
