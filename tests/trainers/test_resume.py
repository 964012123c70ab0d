"""Checkpoints: an interrupted trial that goes on ends in the bits of an uninterrupted one; a damaged file says so."""

from dataclasses import replace

import pytest
import tiny
import torch
from torch import nn

from actlab.models import MODELS
from actlab.optimizers import ECD
from actlab.trainers import checkpoint


class Interrupted(BaseException):
    """Stands for Ctrl-C."""


def interrupt_after_saves(monkeypatch, count):
    """The trial is killed right after its ``count``-th checkpoint."""
    real, saves = checkpoint.save, []

    def save(*args):
        real(*args)
        saves.append(args)
        if len(saves) == count:
            raise Interrupted

    monkeypatch.setattr(checkpoint, "save", save)


def interrupt_after_steps(model, count):
    """The trial is killed in the forward pass of its ``count``-th training step."""
    steps = []

    def stop(module, _):
        if module.training:
            steps.append(1)
            if len(steps) == count:
                raise Interrupted

    model.register_forward_pre_hook(stop)
    return model


@pytest.mark.parametrize("saves", [1, 2, 3])
@pytest.mark.parametrize("name", MODELS)
def test_resumed_is_uninterrupted(name, saves, tmp_path, monkeypatch):
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
def test_killed_again_and_again(name, tmp_path):
    """Killed in the middle of a step, many times, from another starting model: the checkpoint holds everything that
    matters."""
    whole = tiny.outcome(tiny.run(tiny.model(name)))
    for steps in (2, 5, 4, 2):
        with pytest.raises(Interrupted):
            tiny.run(
                interrupt_after_steps(tiny.model(name, seed=42 if steps == 2 else 99), steps), saved_at=tmp_path / "t"
            )
    assert tiny.outcome(tiny.run(tiny.model(name, seed=99), saved_at=tmp_path / "t")) == whole


@pytest.mark.parametrize("length", [8, 16, 24])
def test_restored_state_lies_as_new_state_does(length, tmp_path):
    """In the file a tensor begins wherever the metadata ends, and a dot product of MKL rounds by the place where its
    arguments begin."""
    net = nn.Linear(40, 3)
    optimizer = ECD(net.parameters())
    optimizer.step(lambda: _backward(net))
    checkpoint.save(tmp_path / "c", net, optimizer, {"note": "x" * length})
    checkpoint.load(tmp_path / "c", net, again := ECD(net.parameters()))
    assert {again.state[p]["momentum"].data_ptr() % 64 for p in net.parameters()} == {0}


def _backward(net):
    net.zero_grad()
    loss = net(torch.ones(2, 40)).square().sum()
    loss.backward()
    return loss
