"""What makes each architecture itself: wiring, recurrence, receptive field, where dropout stands."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tiny
import torch
from torch import Tensor, nn

from actlab.activations import find_activation
from actlab.models import MODELS, ModelConfig
from actlab.models.layers import Block, FeedForward, LSTMStack

NO_DROPOUT = replace(tiny.CONFIG, dropout=0.0)


def changed(model: nn.Module, tokens: Tensor, place: int) -> Tensor:
    """Positions (T,) whose logits change when the token at ``place`` does."""
    other = tokens.clone()
    other[:, place] = (other[:, place] + 1) % 11
    with torch.inference_mode():
        return (model(tokens) != model(other)).any(-1).any(0)


def test_lstm_stack_is_torchs_lstm() -> None:
    """The stack of one-layer LSTMs computes what ``nn.LSTM(num_layers=2)`` computes."""
    torch.manual_seed(0)
    stack, reference = LSTMStack(6, 9, 2, dropout=0.5).eval(), nn.LSTM(6, 9, 2, batch_first=True)
    with torch.no_grad():
        for i, layer in enumerate(stack.layers):
            for name, parameter in layer.named_parameters():
                getattr(reference, name.replace("_l0", f"_l{i}")).copy_(parameter)
    x = torch.randn(3, 5, 6)
    torch.testing.assert_close(stack(x), reference(x)[0])


def test_lstm_follows_its_equations() -> None:
    """One layer, written out: i, f, g, o gates in torch's order, c = f c + i g, h = o tanh(c)."""
    torch.manual_seed(0)
    stack, x = LSTMStack(4, 3, 1, dropout=0.0).double(), torch.randn(1, 6, 4, dtype=torch.float64)
    layer = stack.layers[0]
    h, c, outputs = torch.zeros(1, 3, dtype=torch.float64), torch.zeros(1, 3, dtype=torch.float64), []
    for t in range(6):
        gates = x[:, t] @ layer.weight_ih_l0.T + h @ layer.weight_hh_l0.T + layer.bias_ih_l0 + layer.bias_hh_l0
        i, f, g, o = gates.chunk(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        outputs.append(h)
    torch.testing.assert_close(stack(x), torch.stack(outputs, 1))


def test_lstm_dropout_stands_between_layers_only() -> None:
    """One layer has no dropout at all; of two, only the second's input is dropped."""
    x = torch.randn(2, 5, 6, generator=torch.Generator().manual_seed(0))
    one = LSTMStack(6, 6, 1, dropout=0.5).train()
    assert torch.equal(one(x), one(x))
    two, seen = LSTMStack(6, 6, 2, dropout=0.5).train(), []
    for layer in two.layers:
        layer.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    out = two(x)
    assert not (seen[0] == 0).any()
    assert (seen[1] == 0).any()
    assert not (out == 0).any()


def test_convlm_sees_65_characters() -> None:
    """A token reaches its own position and the 64 after it, and no other: 2 (1 + 2 + 4 + 8 + 16 + 1) = 64."""
    config = ModelConfig(vocab_size=11, n_layer=1, n_embd=8, n_head=1, block_size=100, dropout=0.0)
    model = tiny.enlarge(tiny.model("convlm", "identity", config=config).double()).eval()
    reached = changed(model, tiny.tokens(4, 100), 10)
    assert reached.nonzero().flatten().tolist() == list(range(10, 75))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "convlm"])
def test_other_models_see_the_whole_context(name: str) -> None:
    """The first token reaches the last position."""
    model = tiny.enlarge(tiny.model(name)).eval()
    assert changed(model, tiny.tokens(8), 0)[-1]


@pytest.mark.parametrize(("name", "knows"), [("charlm", True), ("convlm", False)])
def test_positions(name: str, knows: bool) -> None:
    """charlm tells positions apart in a constant text; convlm, once its context is padded no more, does not."""
    config = replace(NO_DROPOUT, block_size=80)
    model = tiny.enlarge(tiny.model(name, config=config).double()).eval()
    with torch.inference_mode():
        logits = model(torch.zeros(1, 80, dtype=torch.int64))[0, 66:]
    assert torch.allclose(logits, logits[:1].expand_as(logits), rtol=0, atol=1e-9) != knows


def test_dropout_per_model() -> None:
    """In training mode two passes differ, but for nanotransformer, which has no dropout; in evaluation mode all
    repeat."""
    for name in MODELS:
        model, tokens = tiny.model(name).train(), tiny.tokens()
        assert torch.equal(model(tokens), model(tokens)) == (name == "nanotransformer"), name
        model.eval()
        assert torch.equal(model(tokens), model(tokens)), name


@pytest.mark.parametrize("name", ["charlm", "minigpt", "nanotransformer"])
def test_transformers_are_pre_norm_residual(name: str) -> None:
    """A block adds attention(norm(x)) and then feed-forward(norm(x)) to the residual stream, written out."""
    model = tiny.enlarge(tiny.model(name, config=NO_DROPOUT).double()).eval()
    x = torch.randn(2, 8, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    for block in model.blocks:
        assert isinstance(block, Block)
        middle = x + block.attention(block.norm_1(x))
        torch.testing.assert_close(block(x), middle + block.feed_forward(block.norm_2(middle)))


def test_feed_forward_is_its_formula() -> None:
    """Plain: W2 act(W1 x + b1) + b2. Gated: W2 (act(gate) * value) + b2, gate in the first half of ``up``."""
    x = torch.randn(3, 6, generator=torch.Generator().manual_seed(0))
    for name, function in (("gelu", nn.functional.gelu), ("swiglu", None)):
        layer = FeedForward(6, 24, find_activation(name), "matched")
        hidden = x @ layer.up.weight.T + layer.up.bias
        if function is None:
            half = layer.up.out_features // 2
            mixed = nn.functional.silu(hidden[:, :half]) * hidden[:, half:]
        else:
            mixed = function(hidden)
        torch.testing.assert_close(layer(x), mixed @ layer.down.weight.T + layer.down.bias)


@pytest.mark.parametrize("width", [128, 256, 384])
def test_gated_hidden_width_is_two_thirds(width: int) -> None:
    """The matched gated width is 2/3 of the plain one, within one percent (Shazeer's rule)."""
    hidden = FeedForward(width, 4 * width, find_activation("swiglu"), "matched").down.in_features
    assert hidden / (4 * width) == pytest.approx(2 / 3, rel=0.01)


@pytest.mark.parametrize(("name", "biases"), [("charlm", True), ("minigpt", True), ("nanotransformer", False)])
def test_attention_biases(name: str, biases: bool) -> None:
    """charlm's and minigpt's attention has biases, nanotransformer's has none; no head of the three has one."""
    names = [key for key, _ in tiny.model(name).named_parameters()]
    assert any("attention" in key and key.endswith("bias") for key in names) == biases
    assert "head.bias" not in names


@pytest.mark.parametrize("name", ["convlm", "hybridlm", "tinylstm"])
def test_other_heads_have_a_bias(name: str) -> None:
    """convlm, hybridlm and tinylstm end in a linear layer with bias."""
    assert "head.bias" in dict(tiny.model(name).named_parameters())


def test_prelu_is_fresh_in_every_block() -> None:
    """Blocks do not share slopes."""
    for name in ("charlm", "convlm"):
        model = tiny.model(name, "random_prelu")
        slopes = [m.slope for m in model.modules() if hasattr(m, "slope")]
        assert len(slopes) == (2 if name == "charlm" else 6)
        assert len({id(s) for s in slopes}) == len(slopes)
        assert not torch.equal(slopes[0], slopes[1])
