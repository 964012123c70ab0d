"""Checkpoints: an interrupted trial that goes on ends in the bits of an uninterrupted one; a damaged file says so."""

from dataclasses import replace

import pytest
import tiny
import torch
from torch import nn

from actlab.optimizers import ECD
from actlab.trainers import checkpoint


@pytest.mark.parametrize(("at", "dtype"), [(0, "float32"), (3, "float32"), (6, "float32"), (3, "bfloat16")])
def test_resumed_is_uninterrupted(architecture, at, dtype, tmp_path, monkeypatch):
    """Killed after any of its checkpoints and started again, from another starting model, a trial gives the same
    weights and history, bit for bit."""
    if dtype == "bfloat16" and tiny.lacks_bfloat16(architecture):
        pytest.skip("this processor has no LSTM in bfloat16")
    recipe, real = replace(tiny.RECIPE, iterations=11, dtype=dtype), checkpoint.save
    whole = tiny.outcome(tiny.run(tiny.model(architecture), recipe))

    def save(*state):
        real(*state)
        if state[-1]["iteration"] == at:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save", save)
        with pytest.raises(KeyboardInterrupt):
            tiny.run(tiny.model(architecture), recipe, saved_at=tmp_path / "t")
    assert tiny.outcome(tiny.run(tiny.model(architecture, seed=99), recipe, saved_at=tmp_path / "t")) == whole


@pytest.mark.parametrize("length", [8, 16, 24])
def test_restored_state_lies_as_new_state_does(length, tmp_path):
    """In the file a tensor begins wherever the metadata ends, and a dot product of MKL rounds by the place where its
    arguments begin."""
    net = nn.Linear(40, 3)
    optimizer = ECD(net.parameters())
    net(torch.ones(2, 40)).square().sum().backward()
    optimizer.step(lambda: 1.0)
    checkpoint.save(tmp_path / "c", net, optimizer, {"note": "x" * length})
    checkpoint.load(tmp_path / "c", net, again := ECD(net.parameters()))
    assert {again.state[p]["momentum"].data_ptr() % 64 for p in net.parameters()} == {0}
