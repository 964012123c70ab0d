"""The reference loop computes the same function as ours, slowly; a measurement reports what it measured."""

import torch
from tests.speed import reference
from tests.speed.__main__ import save
from tests.support import tiny

from actlab.chapters import running
from actlab.models import MODELS, build_model


def test_naive_models_compute_the_same_function(subtests):
    """Head-by-head attention, PyTorch's own, and the stacked LSTM agree with ours, logits and gradients."""
    for name in MODELS:
        for activation in ["gelu", "swiglu"]:
            for attention in [reference.NaiveAttention, reference.TorchAttention]:
                with subtests.test(attention=attention.__name__, activation=activation, name=name):
                    ours = build_model(name, tiny.CONFIG, activation).double().eval()
                    plain = reference.naive(ours, attention).double().eval()
                    tokens = tiny.tokens()
                    ours(tokens).square().sum().backward()
                    plain(tokens).square().sum().backward()
                    torch.testing.assert_close(plain(tokens), ours(tokens))
                    first = sum(p.grad.square().sum() for p in ours.parameters())
                    second = sum(p.grad.square().sum() for p in plain.parameters())
                    torch.testing.assert_close(second, first)


def test_records_keep_the_newest():
    """A measurement is a record; the page shows the newest of its name, and says where there is none."""
    assert running.newest(running.SPEED, "peers") is None
    save("peers", {"models": {}})
    found = running.newest(running.SPEED, "peers")
    assert found is not None
    assert found["measured"] == {"models": {}}
    shown = running.tables().data
    assert "<th>peers</th>" in shown
    assert shown.count("no record yet") == 4
