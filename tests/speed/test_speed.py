"""Every way computes, trains and evaluates the same model; tables say what was measured."""

from itertools import product

import pytest
import tiny
import torch
from tests.speed import peers, reference
from tests.speed.__main__ import save
from torch.optim import adam

from actlab.chapters import running
from actlab.models import MODELS
from actlab.trainers import setup

TINY = peers.Setting(dataset="pydoc", scale="quick", steps=2)


def test_plain_layers_compute_the_same_function(subtests):
    """Head-by-head attention, PyTorch's own, and the stacked LSTM agree with ours, logits and gradients."""
    plain = product(MODELS, ("gelu", "swiglu"), (reference.NaiveAttention, reference.TorchAttention))
    for name, activation, attention in plain:
        with subtests.test(name=name, activation=activation, attention=attention.__name__):
            ours = tiny.model(name, activation).double().eval()
            models, found = (ours, reference.naive(ours, attention).double().eval()), []
            for model in models:
                logits = model(tiny.tokens())
                logits.square().sum().backward()
                found.append((logits, sum(p.grad.square().sum() for p in model.parameters())))
            torch.testing.assert_close(*found)


@pytest.mark.filterwarnings("ignore")
def test_every_way_trains_and_evaluates(subtests, toy, monkeypatch):
    """Training makes one optimizer step an iteration; evaluation makes none."""
    steps, update = [], adam.adam
    monkeypatch.setattr(
        adam, "adam", lambda *args, **more: (steps.append(1), update(*args, **more))
    )  # hooks on steps are not called in ours
    for name, (make, _) in peers.WAYS.items():
        with subtests.test(name=name):
            if "Lightning" in name:
                pytest.importorskip("lightning")
            if "bfloat16" in name and not setup.bfloat16_arithmetic():
                pytest.skip("this processor has no bfloat16 arithmetic")
            works, groups = make(TINY), 2 if name.startswith("nanoGPT") else 1  # matrices decay, vectors do not
            steps.clear()
            works["training"]()
            assert len(steps) == TINY.steps * groups
            works["evaluation"]()
            assert len(steps) == TINY.steps * groups


def test_a_run_is_computed_from_its_parts():
    """500 iterations of 10 ms and 11 evaluations of 0.1 million positions at 10 s a million make 16 s; twice as many
    positions, 27 s."""
    mine = {"iteration": [0.01, 0.01], "million_positions": [10.0, 10.0], "peak_mb": 400.0}
    slow = {"iteration": [0.02, 0.02], "million_positions": [100.0, 100.0], "peak_mb": 500.0}
    about = {"iterations": 500, "evaluations": 11, "positions": 100_000, "published_positions": 200_000}
    measured = {**about, "models": {"charlm": {"ways": {"ours": mine, "plain reference": slow}}}}
    save("peers", measured)
    save("commands", {"bfloat16": True, "models": {"charlm": {"float32": [6.0], "bfloat16": [2.0]}}})
    table = running.peers().loc["charlm"]
    assert table["run, s"].tolist() == ["16", "120"]
    assert table["as published"].tolist() == ["", "14.4"]
    assert running.against_peers()["charlm", "plain reference"].value == pytest.approx(650)
    assert "650% more CPU time" in running.speed()
    assert "includes 0 in 0 of 1 comparison" in running.speed()
    assert "command 3.0 (" in running.speed()


@pytest.mark.slow
def test_peers_are_measured_in_processes_of_their_own():
    """One model at the quick size, one round: times and memory."""
    found = peers.measure_all(1, ("charlm",), others=False, dataset="pydoc", scale="quick", steps=1)
    ways = found["models"]["charlm"]["ways"]
    assert ("ours in bfloat16" in ways) == found["bfloat16"]
    assert all(
        ways[name][part][0] > 0 for name in ("ours", "plain reference") for part in ("iteration", "million_positions")
    )
    save("peers", found)
    assert len(running.peers()) == len(ways)
