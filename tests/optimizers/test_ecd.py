"""ECD against a slow, literal reference, and every invariant of its equations."""

import copy
import math

import pytest
import torch
from tiny import normal, stepped
from torch import nn

from actlab.optimizers import ECD


def literal(theta, steps, w, conserve, per_tensor):
    """The numbered steps of the published method, one at a time, on lists of float64 tensors. Returns (theta, p)."""
    lr, eta, F0 = SETTINGS.values()
    theta = [t.detach().clone() for t in theta]
    d, dt, p = sum(t.numel() for t in theta), lr / math.sqrt(eta), []
    for call in range(steps):
        leaves = [t.clone().requires_grad_() for t in theta]
        value = bowl(leaves)
        gradients = torch.autograd.grad(value, leaves)
        if call == 0:
            norm = math.sqrt(sum((g * g).sum() for g in gradients))
            p = [-g / norm for g in gradients]
        potential = value.item() + w / 2 * sum((t * t).sum() for t in theta) - F0
        if potential <= 1e-40:
            continue
        if conserve:
            norm = math.sqrt(sum((q * q).sum() for q in p))
            p = [q / norm for q in p]
        g = [gradient + w * t for gradient, t in zip(gradients, theta, strict=True)]
        c = -(dt / 2) * eta * d / (d - 1) / potential
        dots = [(q * k).sum() for q, k in zip(p, g, strict=True)]
        if not per_tensor:
            dots = [sum(dots)] * len(dots)
        p = [q + c * (k - q * dot) for q, k, dot in zip(p, g, dots, strict=True)]
        theta = [t + dt * q for t, q in zip(theta, p, strict=True)]
    return theta, p


def start(*shapes):
    return [normal(*shape, seed=seed) for seed, shape in enumerate(shapes)]


def bowl(theta):
    """An anisotropic quadratic that couples the tensors."""
    flat = torch.cat([t.reshape(-1) for t in theta])
    return (torch.linspace(0.5, 3, len(flat), dtype=flat.dtype) * flat * flat).sum() / 2 + 0.1 * flat.sum() ** 2


def drive(theta, steps, **settings):
    """``steps`` calls of ECD from ``theta``: (parameters, optimizer)."""
    params = [nn.Parameter(t.clone()) for t in theta]
    optimizer = ECD(params, **settings)
    for _ in range(steps):
        stepped(optimizer, lambda: bowl(params))
    return [p.detach() for p in params], optimizer


def momenta(optimizer):
    """p of each parameter as the equations have it; the state holds it divided by a number of its group."""
    params = optimizer.param_groups[0]["params"]
    (unit,) = optimizer.state["system"]["units"]
    return [unit * optimizer.state[parameter]["momentum"] for parameter in params]


SMALL, LARGE = start((3, 4), (5,), (2, 5)), start((300, 500), (7,))
"""LARGE: more elements than a fused pass takes at once."""
SETTINGS = {"lr": 0.3, "eta": 9.0, "F0": -1.0}
TURNED = [t.movedim(0, -1).contiguous().movedim(-1, 0) for t in SMALL]
"""A transposed parameter cannot take the fused pass."""


def test_a_copy_goes_on_alike():
    """Parameters and optimizer, copied together after three steps, make the same fourth step."""
    params = [nn.Parameter(t.clone()) for t in SMALL]
    optimizer = ECD(params, **SETTINGS, nu=0.1)
    for _ in range(3):
        stepped(optimizer, lambda: bowl(params))
    others, other = copy.deepcopy((params, optimizer))
    stepped(optimizer, lambda: bowl(params))
    stepped(other, lambda: bowl(others))
    assert all(map(torch.equal, params, others))


@pytest.mark.parametrize("inner_product", ["per_tensor", "global"])
@pytest.mark.parametrize("decay", [0.0, 0.3])
@pytest.mark.parametrize(("conserve", "theta"), [(True, SMALL), (False, SMALL), (True, LARGE), (True, TURNED)])
def test_agrees_with_the_literal_reference(inner_product, decay, conserve, theta):
    steps = 3 if theta is LARGE else 30
    settings = {"weight_decay": decay, "conserve_energy": conserve, "inner_product": inner_product}
    got, optimizer = drive(theta, steps, **SETTINGS, **settings)
    want, p = literal(theta, steps, decay, conserve, inner_product == "per_tensor")
    for a, b in zip([*got, *momenta(optimizer)], [*want, *p], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-11)


def test_does_not_move_where_the_potential_is_used_up_and_starts_only_once():
    """Calls with F <= F0 are skipped; the first of them still sets the momentum, once."""
    theta = start((6,), (4,))
    got, optimizer = drive(theta, 3, F0=1e6, nu=0.1)
    assert all(map(torch.equal, got, theta))
    group = optimizer.param_groups[0]
    group["F0"] = -1.0
    stepped(optimizer, lambda: bowl(group["params"]))
    fresh, _ = drive(theta, 1, F0=-1.0)
    assert all(map(torch.equal, got, fresh))


def test_one_dimension_goes_straight_on():
    (after,), _ = drive([torch.tensor([3.0], dtype=torch.float64)], 5, F0=-1.0)
    assert after.item() == pytest.approx(2.5)


def test_turns_keep_the_speed():
    theta, settings = start((30,), (7, 3)), {"F0": -1.0, "inner_product": "global"}
    turned, still = (nn.utils.parameters_to_vector(momenta(drive(theta, 1, nu=nu, **settings)[1])) for nu in (2.0, 0.0))
    assert turned.norm().item() == pytest.approx(still.norm().item())
    assert not turned.allclose(still)


def test_settings_of_the_whole_system_are_checked():
    """An inner product is one of two, and groups cannot differ in what concerns all parameters."""
    one, other = (nn.Parameter(torch.ones(2)) for _ in range(2))
    with pytest.raises(AssertionError, match="per_tensor"):
        ECD([one], inner_product="euclid")
    with pytest.raises(AssertionError, match="eta concerns all parameters"):
        ECD([{"params": [one]}, {"params": [other], "eta": 1.0}])
