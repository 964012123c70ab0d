"""What is measured on a trained model of the ablation: batches, copying and alignment, each against a slow or a known
answer."""

import math
from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from actlab.errors import BadInput
from actlab.models.gpt2 import GPT2, GPT2Config, build_gpt2
from actlab.models.symmetry import distributions
from actlab.study import probes as analyses
from actlab.trainers.recipes import TokenRecipe
from actlab.trainers.streams import init_streams
from actlab.trainers.windows import Windows

CONFIG = GPT2Config(vocab_size=29, n_layer=2, n_embd=24, n_head=3, block_size=8, dropout=0.1, symmetry="bQbV")
RECIPE = TokenRecipe(iterations=1, evaluate_every=1)


def model(**changes):
    return build_gpt2(replace(CONFIG, **changes), "gelu", generator_for=init_streams(1))


def text(n):
    return torch.randint(29, (n,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)


def test_batch_losses_are_those_of_contiguous_spans(monkeypatch):
    """Each batch is one span of the text; a fresh loss of the first and the last agrees."""
    monkeypatch.setattr(analyses, "BATCH_TOKENS", 32)
    monkeypatch.setattr(analyses, "BATCHES", 5)
    net, tokens = model().train(), text(400)
    found = analyses.analyse(net, tokens, RECIPE)
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
    found = analyses.analyse(model(), text(40), RECIPE)
    assert (found["batch_tokens"], len(found["batch_losses"])) == (32, 1)
    with pytest.raises(BadInput, match="needs at least 9"):
        analyses.analyse(model(), text(7), RECIPE)


def slow_pattern(inputs, targets):
    again, other = [], []
    for t, token in enumerate(inputs):
        before = [s for s in range(t) if inputs[s] == token]
        same = bool(before) and targets[before[-1]] == targets[t]
        again.append(same)
        other.append(bool(before) and not same)
    return again, other


def test_pattern_agrees_with_a_loop():
    """Repeated and changed continuations, token by token."""
    tokens = torch.randint(3, (20, 9), generator=torch.Generator().manual_seed(1))
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    found = analyses.pattern(inputs, targets)
    for row in range(20):
        again, other = slow_pattern(inputs[row].tolist(), targets[row].tolist())
        assert (found[0][row].tolist(), found[1][row].tolist()) == (again, other)


def test_copying_takes_the_last_item_of_a_window():
    """One item a window, its rank and loss read at the last place of its kind."""
    tokens = torch.tensor([[1, 2, 1, 2, 1, 3], [5, 6, 7, 8, 9, 4]])
    windows = Windows(tokens[:, :-1], tokens[:, 1:])
    losses = torch.arange(10.0).view(2, 5)
    ranks = torch.tensor([[9, 9, 0, 4, 7], [0, 0, 0, 0, 0]])
    found = analyses.copying(windows, losses, ranks)
    assert found["repeated"] | {"standard_error": 0} == {
        "items": 1,
        "top1": 0.0,
        "top5": 1.0,
        "loss": 3.0,
        "standard_error": 0,
    }
    assert found["changed"]["items"] == 1
    assert (found["changed"]["loss"], found["changed"]["top5"]) == (4.0, 0.0)
    assert math.isnan(found["changed"]["standard_error"])


def test_a_model_that_copies_scores():
    """A stand-in that continues as last time gets every repeated item and no changed one."""

    class Copies(GPT2):
        def forward(self, tokens):
            logits = torch.zeros(*tokens.shape, 29)
            for row, line in enumerate(tokens.tolist()):
                for t, token in enumerate(line):
                    before = [s for s in range(t) if line[s] == token]
                    if before:
                        logits[row, t, line[before[-1] + 1]] = 9.0
            return logits

    net = Copies.__new__(Copies)
    net.__dict__.update(model().__dict__)
    windows, _ = analyses.batches(text(3000) % 4, 8)
    found = analyses.copying(windows, *analyses.per_token(net, windows, RECIPE))
    assert (found["repeated"]["top1"], found["changed"]["top1"]) == (1.0, 0.0)
    assert found["repeated"]["items"] > 100


def test_alignment_agrees_with_a_loop():
    """Mean cosine of every layer and head, of the keys in attention and of the raw embeddings."""
    net, tokens = model().eval(), text(64).long().view(8, 8)
    found = analyses.alignment(net, tokens)
    mean, block = distributions(8, 0.0)["query"][0], net.get_submodule("blocks.0")
    assert net.positions is not None
    keys = block.attention.qkv(block.norm_1(net.tokens(tokens) + net.positions.weight))[..., 24:48]
    raw = net.tokens.weight @ block.attention.qkv.weight[24:48].T
    for name, vectors in (("keys", keys.flatten(0, 1)), ("embeddings", raw)):
        for head in range(3):
            mine = vectors[:, 8 * head : 8 * head + 8]
            cosine = F.cosine_similarity(mine, mean[None]).mean().item()
            assert found[name]["cosine"][0][head] == pytest.approx(cosine, abs=1e-5)
            assert found[name]["logit_spread"][0][head] == pytest.approx((mine @ mean).std().item() / 8**0.5, abs=1e-6)


def test_keys_along_bq_are_told_from_the_null():
    """A key bias of one head along bQ makes its cosine 1, beyond every random direction; the other heads stay inside,
    as before."""
    net = model()
    with torch.no_grad():
        net.get_submodule("blocks.0.attention.qkv").bias[24:32] = 100.0
    found = analyses.alignment(net, text(640).long().view(80, 8))["keys"]
    assert found["cosine"][0][0] == pytest.approx(1, abs=1e-3)
    assert found["high"][0][0] < 0.9
    assert found["logit_spread"][0][0] > 0


def test_a_model_without_bq_is_measured_with_the_same_vector_and_null():
    """Symmetric and broken models of one seed have the same raw embeddings, so the same published cosines; random
    directions come from a named stream, not from torch's global one."""
    found = []
    for mode in ("symmetric", "bQ"):
        torch.rand(3)
        found.append(analyses.alignment(model(symmetry=mode), text(64).long().view(8, 8)))
    assert found[0]["embeddings"] == found[1]["embeddings"]
