"""Every way computes, trains and evaluates the same model."""

from itertools import product

import pytest
import tiny
import torch
from bench import peers, reference, timing

from actlab.models import MODELS

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
def test_every_way_trains_and_evaluates(subtests, toy):
    """Each peer that is installed, for two steps."""
    for name, (make, _) in peers.WAYS.items():
        with subtests.test(name=name):
            if "Lightning" in name:
                pytest.importorskip("lightning")
            if "bfloat16" in name and not timing.bfloat16_arithmetic():
                pytest.skip("this processor has no bfloat16 arithmetic")
            works = make(TINY)
            works["training"]()
            works["evaluation"]()


@pytest.mark.slow
def test_peers_are_measured_in_processes_of_their_own():
    """One model at the quick size, one round: times and memory."""
    found = peers.measure_all(1, ("charlm",), others=False, dataset="pydoc", scale="quick", steps=1)
    ways = found["models"]["charlm"]["ways"]
    assert all(way[part][0] > 0 for way in ways.values() for part in ("iteration", "million_positions"))
