"""What makes each architecture itself: wiring, recurrence, receptive field, where dropout stands."""

from dataclasses import replace

import pytest
import tiny
import torch

from actlab.models import ModelConfig

NO_DROPOUT = replace(tiny.CONFIG, dropout=0.0)


def changed(model, tokens, place):
    """Positions (T,) whose logits change when the token at ``place`` does."""
    other = tokens.clone()
    other[:, place] = (other[:, place] + 1) % 11
    with torch.inference_mode():
        return (model(tokens) != model(other)).any(-1).any(0)


def test_convlm_sees_65_characters():
    """A token reaches its own position and the 64 after it, and no other: 2 (1 + 2 + 4 + 8 + 16 + 1) = 64."""
    config = ModelConfig(vocab_size=11, n_layer=1, n_embd=8, n_head=1, block_size=100, dropout=0.0)
    model = tiny.enlarge(tiny.model("convlm", "identity", config=config).double()).eval()
    reached = changed(model, tiny.tokens(4, 100), 10)
    assert reached.nonzero().flatten().tolist() == list(range(10, 75))


@pytest.mark.parametrize("name", ["charlm", "minigpt", "nanotransformer"])
def test_transformers_are_pre_norm_residual(name):
    """A block adds attention(norm(x)) and then feed-forward(norm(x)) to the residual stream, written out."""
    model = tiny.enlarge(tiny.model(name, config=NO_DROPOUT).double()).eval()
    x = torch.randn(2, 8, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for block in model.blocks:
        middle = x + block.attention(block.norm_1(x))
        torch.testing.assert_close(block(x), middle + block.feed_forward(block.norm_2(middle)))
