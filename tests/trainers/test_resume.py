"""Checkpoints: an interrupted trial that goes on ends in the bits of an uninterrupted one; a damaged file says so."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import tiny
import torch
from torch import Tensor, nn

from actlab.models import MODELS
from actlab.optimizers import ECD
from actlab.trainers import checkpoint
from actlab.trainers.checkpoint import read_tensors, write_tensors


class Interrupted(BaseException):
    """Stands for Ctrl-C."""


def interrupt_after_saves(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """The trial is killed right after its ``count``-th checkpoint."""
    real, saves = checkpoint.save, []

    def save(*args: object) -> None:
        real(*args)  # type: ignore[arg-type]
        saves.append(args)
        if len(saves) == count:
            raise Interrupted

    monkeypatch.setattr(checkpoint, "save", save)


def interrupt_after_steps(model: nn.Module, count: int) -> nn.Module:
    """The trial is killed in the forward pass of its ``count``-th training step."""
    steps = []

    def stop(module: nn.Module, _: object) -> None:
        if module.training:
            steps.append(1)
            if len(steps) == count:
                raise Interrupted

    model.register_forward_pre_hook(stop)
    return model


@pytest.mark.parametrize("saves", [1, 2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_resumed_is_uninterrupted(name: str, saves: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed after any of its evaluations and started again, a trial gives the same weights, history and predictions,
    bit for bit."""
    recipe = replace(tiny.RECIPE, iterations=11)
    whole = tiny.outcome(tiny.run(tiny.model(name), recipe))
    with monkeypatch.context() as patch:
        interrupt_after_saves(patch, saves)
        with pytest.raises(Interrupted):
            tiny.run(tiny.model(name), recipe, saved_at=tmp_path / "t")
    assert tiny.outcome(tiny.run(tiny.model(name), recipe, saved_at=tmp_path / "t")) == whole


@pytest.mark.parametrize("name", ["charlm", "tinylstm"])
def test_killed_again_and_again(name: str, tmp_path: Path) -> None:
    """Killed in the middle of a step, many times, from another starting model: the checkpoint holds everything that
    matters."""
    whole = tiny.outcome(tiny.run(tiny.model(name)))
    for steps in (2, 5, 4, 2):
        with pytest.raises(Interrupted):
            tiny.run(
                interrupt_after_steps(tiny.model(name, seed=42 if steps == 2 else 99), steps), saved_at=tmp_path / "t"
            )
    assert tiny.outcome(tiny.run(tiny.model(name, seed=99), saved_at=tmp_path / "t")) == whole


def test_seconds_add_up_over_interruptions(tmp_path: Path) -> None:
    """Time spent before the interruption is not lost."""
    with pytest.raises(Interrupted):
        tiny.run(interrupt_after_steps(tiny.model(), 8), saved_at=tmp_path / "t")
    before = read_tensors(tmp_path / "t")[1]["seconds"]
    after = tiny.run(tiny.model(), saved_at=tmp_path / "t").progress.seconds
    assert all(after[kind] > before[kind] > 0 for kind in ("training", "evaluation"))


def test_round_trip_of_tensors_and_words(tmp_path: Path) -> None:
    """Tensors keep their bits, dtype and shape; NaN, infinity and nesting survive in the metadata."""
    tensors = {
        "a/b": torch.tensor([math.nan, -0.0, math.inf]),
        "c": torch.arange(6, dtype=torch.uint8).view(2, 3).T,
        "d": torch.tensor(3.0, dtype=torch.bfloat16),
        "e": torch.empty(0, 4),
    }
    about = {"history": [{"loss": math.nan}, {"loss": math.inf}], "text": "é\n"}
    write_tensors(tmp_path / "deep" / "file", tensors, about)
    read, words = read_tensors(tmp_path / "deep" / "file")
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype
        assert torch.equal(read[name].nan_to_num(nan=7.0), tensor.nan_to_num(nan=7.0))
    assert repr(words) == repr(about)


@pytest.mark.parametrize("length", [8, 16, 24])
def test_restored_state_lies_as_new_state_does(length: int, tmp_path: Path) -> None:
    """In the file a tensor begins wherever the metadata ends, and a dot product of MKL rounds by the place where its
    arguments begin."""
    net = nn.Linear(40, 3)
    optimizer = ECD(net.parameters())
    optimizer.step(lambda: _backward(net))
    checkpoint.save(tmp_path / "c", net, optimizer, {"note": "x" * length})
    checkpoint.load(tmp_path / "c", net, again := ECD(net.parameters()))
    assert {again.state[p]["momentum"].data_ptr() % 64 for p in net.parameters()} == {0}


def _backward(net: nn.Module) -> Tensor:
    net.zero_grad()
    loss = net(torch.ones(2, 40)).square().sum()
    loss.backward()
    return loss
