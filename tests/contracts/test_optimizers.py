"""One list of properties over every optimizer of the table; ``trainers/test_tokens_loop`` resumes each bit for bit."""

import pytest
import torch
from tiny import normal, stepped
from torch import nn

from actlab.optimizers import OPTIMIZERS, build_optimizer

TAME = {
    "ecd": {"lr": 0.3, "eta": 25.0, "F0": -0.5},
    "adamw": {"lr": 0.02},
    "sgd": {"lr": 0.01},
    "sgdm": {"lr": 0.01},
    "soap": {"lr": 0.02},
}
"""Rates at which a small quadratic converges within 200 steps."""


@pytest.fixture(params=OPTIMIZERS)
def name(request):
    return request.param


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def build(name, params, seed=1, **settings):
    return build_optimizer(name, params, torch.Generator().manual_seed(seed), **{**TAME[name], **settings})


def descend(optimizer, loss, steps):
    """The losses of so many steps."""
    return [stepped(optimizer, loss).item() for _ in range(steps)]


def weights(model):
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def trained(name, noise=1, model=None, groups=None, **settings):
    """The weights after 12 steps, the global dice thrown so often before them."""
    model = model or net()
    optimizer = build(name, groups or model.parameters(), **settings)
    torch.rand(noise)
    inputs, targets = normal(16, 6).float(), normal(16, 3).float()
    descend(optimizer, lambda: nn.functional.mse_loss(model(inputs), targets), 12)
    return weights(model)


def test_decreases_a_convex_quadratic(name):
    """The sum of h x^2 / 2, h from 0.5 to 2."""
    x = nn.Parameter(torch.ones(3, 4))
    losses = descend(build(name, [x]), lambda: (torch.linspace(0.5, 2, 12) * x.flatten() ** 2).sum() / 2, 200)
    assert min(losses) < 0.05 * losses[0]


def test_the_seed_decides_the_bits(name):
    """And the global random stream has no part in it; another seed matters where there is randomness."""
    turns = {"nu": 0.5} if name == "ecd" else {}
    one, again, other = (trained(name, noise=n, seed=seed, **turns) for n, seed in ((1, 1), (2, 1), (3, 2)))
    assert one.equal(again)
    assert one.equal(other) == (name in ("adamw", "sgd", "soap"))


def test_weight_decay_shrinks(name):
    """Where the loss is flat; decoupled or as a force."""
    parameter = nn.Parameter(torch.full((3, 4), 2.0))
    more = {"init_velocity_std": 0.0} if name == "sgdm" else {}
    descend(build(name, [parameter], weight_decay=0.5, **more), lambda: 1 + 0 * parameter.sum(), 4)
    assert parameter.norm() < 2 * 12**0.5
