"""One list of properties over every model and every activation."""

from dataclasses import replace
from itertools import combinations, product

import pytest
import tiny
import torch
from part_contracts import OF_CELLS

from actlab.activations import ACTIVATIONS, get_activation
from actlab.models import MODELS


def rest(model, activation):
    """Not every model with a plain activation, a gated one and one with parameters; nor every activation in charlm."""
    return model != "charlm" and activation not in ("relu", "swiglu", "random_prelu")


@pytest.fixture(
    params=[
        pytest.param(cell, marks=[pytest.mark.every] if rest(*cell) else [], id="-".join(cell))
        for cell in product(MODELS, ACTIVATIONS)
    ]
)
def cell(request):
    """(model, activation): representatives in `make test`, all in `make check`."""
    return request.param


def logits(model, tokens):
    with torch.inference_mode():
        return model.eval()(tokens)


def large(name, activation):
    """A model far from the near-linear start."""
    return tiny.enlarge(tiny.model(name, activation, gated_width="doubled"))


def test_the_activation_reaches_the_network(architecture):
    """Same initialisation, same batch: any two activations give different logits, but for the general SmeLU at its
    default beta."""
    outputs = {activation: logits(large(architecture, activation), tiny.tokens()) for activation in ACTIVATIONS}
    for a, b in combinations(ACTIVATIONS, 2):
        assert torch.equal(outputs[a], outputs[b]) == ({a, b} == {"smelu", "smelu_1"}), f"{a} and {b}"


def test_the_activation_module_is_called(cell):
    """Every activation module of the named type runs once in a forward pass, and there is one in every place that the
    model names."""
    (name, activation), calls = cell, []
    model = tiny.model(*cell).eval()
    modules = [module for key, module in model.named_modules() if key.endswith("act")]
    assert len(modules) == {"convlm": 6, "hybridlm": 1, "tinylstm": 1}.get(name, 2)
    for module in modules:
        assert type(module) is type(get_activation(activation))
        module.register_forward_hook(lambda module, *_: calls.append(module))
    model(tiny.tokens())
    assert calls == modules


@pytest.mark.parametrize("contract", OF_CELLS)
def test_built_in_parts_hold_the_contracts(cell, contract):
    """Its output reaches the logits, no logit depends on a later token or on another sequence, every parameter learns,
    one seed gives one network."""
    assert OF_CELLS[contract](*cell) == ""


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (2, 8)])
def test_every_length_up_to_the_context(cell, size):
    """Logits are finite (B, T, V)."""
    out = tiny.model(*cell).train()(tiny.tokens(*size))
    assert out.shape == (*size, 11)
    assert torch.isfinite(out).all()


def test_no_model_sees_the_future_at_the_studys_context(architecture):
    """At 128 positions, where kernels work in blocks."""
    config = replace(tiny.CONFIG, block_size=128, n_embd=32)
    model, tokens = tiny.enlarge(tiny.model(architecture, config=config), 5), tiny.tokens(2, 128)
    before = logits(model, tokens)
    for t in (0, 1, 15, 31, 32, 63, 64, 100, 126):
        other = torch.where(torch.arange(128) > t, (tokens + 3) % 11, tokens)
        assert torch.equal(before[:, : t + 1], logits(model, other)[:, : t + 1])
