"""Initialisation: by parameter name, from named streams, at the scales that the reference study used."""

import math

import pytest
import tiny
import torch
from torch import nn

from actlab.models import ModelConfig, build_model

WIDE = ModelConfig(vocab_size=65, n_layer=2, n_embd=64, n_head=4, block_size=32, dropout=0.2)


@pytest.mark.parametrize("other", ["relu", "swiglu", "random_prelu"])
def test_arms_share_what_they_can(architecture, other):
    """A parameter of one name and shape starts from the same bits in every arm: the paired design."""
    one, two = (
        dict(tiny.model(architecture, activation, gated_width="doubled").named_parameters())
        for activation in ("gelu", other)
    )
    shared = [key for key in one if key in two and one[key].shape == two[key].shape]
    assert "tokens.weight" in shared
    for key in shared:
        assert torch.equal(one[key], two[key]), key


def test_every_parameter_has_a_stream_of_its_own(architecture):
    """What is drawn at all begins with numbers that no other parameter has, nor the same one from another seed."""
    drawn = [p for seed in (1, 2) for p in tiny.model(architecture, "random_prelu", seed).parameters() if p.std() > 0]
    assert len({tuple(p.flatten()[:4].tolist()) for p in drawn}) == len(drawn) > 6


def test_without_streams_the_global_seed_decides():
    """``build_model`` alone follows ``torch.manual_seed``, as users expect."""

    def weights(seed):
        torch.manual_seed(seed)
        return build_model("charlm", tiny.CONFIG, "gelu").tokens.weight

    assert torch.equal(weights(0), weights(0))
    assert not torch.equal(weights(0), weights(1))


def test_starting_scales(architecture):
    """Biases 0, LayerNorm 1, LSTM matrices orthogonal, convolutions 1/sqrt(fan-in), minigpt's qkv Xavier, other
    matrices 0.02."""
    for module_name, module in tiny.model(architecture, config=WIDE).named_modules():
        for short, parameter in module.named_parameters(recurse=False):
            key = f"{module_name}.{short}"
            if isinstance(module, nn.LayerNorm):
                assert (parameter == float(short == "weight")).all(), key
            elif "bias" in short or (key == "positions.weight" and architecture in ("minigpt", "nanotransformer")):
                assert (parameter == 0).all(), key
            elif isinstance(module, nn.LSTM):
                torch.testing.assert_close(parameter.T @ parameter, torch.eye(64), rtol=0, atol=1e-5)
            elif architecture == "minigpt" and "qkv" in key:
                bound = math.sqrt(6 / (64 + 3 * 64))
                assert parameter.abs().max().item() == pytest.approx(bound, rel=0.01)
                assert parameter.abs().max() <= bound
            else:
                std, n = 1 / math.sqrt(3 * 64) if isinstance(module, nn.Conv1d) else 0.02, parameter.numel()
                assert parameter.std().item() == pytest.approx(std, rel=5 / math.sqrt(2 * n)), key
                assert abs(parameter.mean().item()) < 5 * std / math.sqrt(n), key
