"""What makes each architecture itself: wiring, recurrence, receptive field, where dropout stands."""

from dataclasses import replace

import pytest
import tiny
import torch

from actlab.models import ModelConfig

NO_DROPOUT = replace(tiny.CONFIG, dropout=0.0)


def test_convlm_sees_65_characters():
    """A token reaches its own position and the 64 after it, and no other: 2 (1 + 2 + 4 + 8 + 16 + 1) = 64."""
    config = ModelConfig(vocab_size=11, n_layer=1, n_embd=8, n_head=1, block_size=100, dropout=0.0)
    model, tokens = tiny.enlarge(tiny.model("convlm", "identity", config=config).double()).eval(), tiny.tokens(4, 100)
    before = model(tokens)
    tokens[:, 10] = (tokens[:, 10] + 1) % 11
    assert (model(tokens) != before).any(-1).any(0).nonzero().flatten().tolist() == list(range(10, 75))


@pytest.mark.parametrize("name", ["charlm", "minigpt", "nanotransformer"])
def test_transformers_are_pre_norm_residual(name):
    """A block adds attention(norm(x)) and then feed-forward(norm(x)) to the residual stream, written out."""
    model = tiny.enlarge(tiny.model(name, config=NO_DROPOUT).double()).eval()
    x = tiny.normal(2, 8, 12)
    for block in model.blocks:
        middle = x + block.attention(block.norm_1(x))
        torch.testing.assert_close(block(x), middle + block.feed_forward(block.norm_2(middle)))
