"""Activations: formulas against NumPy and SciPy, slopes against finite differences, known values, and the traps of
gates and PReLU."""

import math

import numpy as np
import pytest
import torch
from part_contracts import slopes
from scipy import special
from tiny import normal

from actlab.activations import ACTIVATIONS, PReLU, get_activation, slope
from actlab.errors import BadInput


def smelu(x, beta):
    return np.where(x <= -beta, 0.0, np.where(x >= beta, x, (x + beta) ** 2 / (4 * beta)))


REFERENCE = {
    "relu": lambda x: np.maximum(0, x),
    "gelu": lambda x: x * special.ndtr(x),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "swish": lambda x: x * special.expit(x),
    "swish_beta": lambda x: x * special.expit(1.702 * x),
    "smelu_05": lambda x: smelu(x, 0.5),
    "smelu_1": lambda x: smelu(x, 1.0),
    "smelu": lambda x: smelu(x, 1.0),
    "prelu": lambda x: np.where(x >= 0, x, 0.25 * x),
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "squared_relu": lambda x: np.maximum(0, x) ** 2,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "identity": lambda x: x,
    "sine": np.sin,
    "step": lambda x: np.where(np.isnan(x), np.nan, x > 0),
}
GATES = {
    "swiglu": REFERENCE["swish"],
    "geglu": REFERENCE["gelu"],
    "reglu": REFERENCE["relu"],
    "bilinear": REFERENCE["identity"],
}
GRID = np.append(np.linspace(-8, 8, 1601), np.nan)


def test_every_activation_has_a_reference_here():
    """No entry of the table escapes these tests."""
    assert set(REFERENCE) | set(GATES) | {"random_prelu"} == set(ACTIVATIONS)


@pytest.mark.parametrize("name", REFERENCE)
def test_formula(name):
    """The module computes the table's formula, to float64 precision; NaN stays NaN."""
    ours = get_activation(name).double()(torch.from_numpy(GRID)).detach().numpy()
    np.testing.assert_allclose(ours, REFERENCE[name](GRID), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", sorted(set(ACTIVATIONS) - {"step"}))
def test_slope_is_the_derivative(name):
    """By the contract of plug-ins: autograd's slope is finite, and agrees with finite differences."""
    assert slopes(name) == ""


def test_step_has_a_straight_through_slope():
    """The step's true derivative is 0 everywhere; training is given 1 where |x| <= 1 instead, and 0 beyond."""
    x = torch.tensor([-1.5, -1.0, -0.2, 0.0, 0.7, 1.0, 1.01])
    assert slope(get_activation("step"), x).tolist() == [0, 1, 1, 1, 1, 1, 0]
    assert get_activation("step")(x).tolist() == [0, 0, 0, 0, 1, 1, 1]


def test_a_family_has_a_member_for_every_beta():
    """By parameter, and as ``smelu_0.3``, ``gelu_10`` and ``swish_3`` by name; no other spelling of a number."""
    members = {
        get_activation("smelu", beta=4.0): smelu(GRID, 4.0),
        get_activation("smelu_0.3"): smelu(GRID, 0.3),
        get_activation("gelu_10"): GRID * special.ndtr(10 * GRID),
        get_activation("swish_3"): GRID * special.expit(3 * GRID),
    }
    for module, expected in members.items():
        np.testing.assert_allclose(module(torch.from_numpy(GRID)).numpy(), expected, atol=1e-12)
    for name in ("smelu_0", "smelu_03", "gelu_1.0", "relu_2"):
        with pytest.raises(BadInput, match="unknown activation"):
            get_activation(name)


@pytest.mark.parametrize("beta", [0.0, -1.0])
def test_smelu_refuses_a_bad_beta(beta):
    """SmeLU is not defined at beta <= 0, and the message says which limit is meant instead."""
    with pytest.raises(BadInput, match=r"beta > 0.*relu"):
        get_activation("smelu", beta=beta)


@pytest.mark.parametrize("name", GATES)
def test_gated_is_a_product_gate_first(name):
    """A gated module multiplies f(first half) by the second half, in that order."""
    x = normal(3, 5, 8)
    gate, value = np.split(x.numpy(), 2, axis=-1)
    np.testing.assert_allclose(get_activation(name)(x).numpy(), GATES[name](gate) * value, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("time", [5, 7])
def test_prelu_slopes_lie_on_the_last_axis(time):
    """Slope c acts on feature c, also when there are as many positions as features (where torch's own would take the
    time axis)."""
    module = PReLU(7)
    module.slope.data = torch.arange(7.0)
    out = module(-torch.ones(2, time, 7))
    assert out.equal(-torch.arange(7.0).expand(2, time, 7))
    out[:, 0].sum().backward()
    assert module.slope.grad.equal(torch.full((7,), -2.0)), "one position reaches every slope"


def test_random_prelu_starts_from_its_published_distribution():
    """N(0.2, 1), within five standard errors."""
    torch.manual_seed(0)
    slopes = get_activation("random_prelu", features=10**6).slope
    assert [slopes.mean().item(), slopes.std().item()] == pytest.approx([0.2, 1], abs=0.005)


def test_every_call_makes_a_fresh_module():
    """Two modules of one name share no parameter and no identity."""
    for name in ACTIVATIONS:
        one, two = get_activation(name, features=3), get_activation(name, features=3)
        assert one is not two
        assert {*one.parameters()}.isdisjoint(two.parameters())


def test_a_parameter_that_the_formula_does_not_have_is_refused():
    """``beta`` for an activation without one is an error, not ignored."""
    with pytest.raises(TypeError, match="beta"):
        get_activation("gelu", beta=2.0)
