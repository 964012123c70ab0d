"""What is measured on a trained model of the ablation: single batches."""

from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from actlab.errors import BadInput
from actlab.models.gpt2 import GPT2Config, build_gpt2
from actlab.study import measure
from actlab.trainers.recipes import TokenRecipe
from actlab.trainers.streams import init_streams

CONFIG = GPT2Config(vocab_size=29, n_layer=2, n_embd=24, n_head=3, block_size=8, dropout=0.1, symmetry="bQbV")
RECIPE = TokenRecipe(iterations=1, evaluate_every=1)


def model(**changes):
    return build_gpt2(replace(CONFIG, **changes), "gelu", generator_for=init_streams(1))


def text(n):
    return torch.randint(29, (n,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)


def test_batch_losses_are_those_of_contiguous_spans(monkeypatch):
    """Each batch is one span of the text; a fresh loss of the first and the last agrees."""
    monkeypatch.setattr(measure, "BATCH_TOKENS", 32)
    monkeypatch.setattr(measure, "BATCHES", 5)
    net, tokens = model().train(), text(400)
    found = measure.batch_losses(net, tokens, RECIPE)
    assert net.training
    assert found["batch_tokens"] == 32
    assert len(found["batch_losses"]) == 5
    net.eval()
    for batch, start in ((0, 0), (-1, (399 // 32 - 1) * 32)):
        span = tokens[start : start + 33].long()
        slow = F.cross_entropy(net(span[:-1].view(4, 8)).flatten(0, 1), span[1:])
        assert found["batch_losses"][batch] == pytest.approx(slow.item(), abs=2e-6)


def test_a_short_split_is_one_smaller_batch():
    """Forty tokens hold four windows of eight; seven hold none."""
    found = measure.batch_losses(model(), text(40), RECIPE)
    assert (found["batch_tokens"], len(found["batch_losses"])) == (32, 1)
    with pytest.raises(BadInput, match="needs at least 9"):
        measure.batch_losses(model(), text(7), RECIPE)
