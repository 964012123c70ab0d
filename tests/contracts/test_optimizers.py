"""One list of properties over every optimizer of the table; ``trainers/test_tokens_loop`` resumes each bit for bit."""

from functools import partial

import pytest
import torch
from tiny import stepped
from torch import nn

from actlab.errors import BadInput
from actlab.optimizers import OPTIMIZERS, build_optimizer, check_complete
from actlab.optimizers.steps import step

NAMES = tuple(OPTIMIZERS)
TAME = {
    "ecd": {"lr": 0.3, "eta": 25.0, "F0": -0.5},
    "adamw": {"lr": 0.02},
    "sgdm": {"lr": 0.01},
    "soap": {"lr": 0.02},
}
"""Rates at which a small quadratic converges within 200 steps."""


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def net(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def build(name, params, seed=1, **settings):
    return build_optimizer(name, params, torch.Generator().manual_seed(seed), **{**TAME[name], **settings})


def descend(optimizer, loss_of, steps, take=step):
    """The losses of steps; ``loss_of`` is given the number of the step."""
    return [stepped(optimizer, partial(loss_of, index), take).item() for index in steps]


def train(model, optimizer, steps, take=step):
    def loss_of(index):
        generator = torch.Generator().manual_seed(index)
        inputs, targets = (torch.randn(16, size, generator=generator) for size in (6, 3))
        return nn.functional.mse_loss(model(inputs), targets)

    descend(optimizer, loss_of, steps, take)


def weights(model):
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def trained(name, take, noise=1, **settings):
    """The weights after 12 steps, the global dice thrown so often before them."""
    model = net()
    optimizer = build(name, model.parameters(), **settings)
    torch.rand(noise)
    train(model, optimizer, range(12), take)
    return weights(model)


def test_decreases_a_convex_quadratic(name):
    """The sum of h x^2 / 2, h from 0.5 to 2."""
    params = [nn.Parameter(torch.full((3, 4), 1.0)), nn.Parameter(torch.full((5,), -1.0))]
    curves = [(torch.linspace(0.5, 2, p.numel()).view_as(p), p) for p in params]
    losses = descend(build(name, params), lambda _: sum((h * p * p).sum() / 2 for h, p in curves), range(200))
    assert min(losses) < 0.05 * losses[0]


def test_the_seed_decides_the_bits(name):
    """And the global random stream has no part in it; another seed matters where there is randomness."""
    turns = {"nu": 0.5} if name == "ecd" else {}
    one, again, other = (trained(name, step, noise, seed=seed, **turns) for noise, seed in ((1, 1), (2, 1), (3, 2)))
    assert one.equal(again)
    assert one.equal(other) == (name in ("adamw", "soap"))


def test_a_step_without_the_compiler_has_the_bits_of_the_optimizers_own(name):
    assert trained(name, step).equal(trained(name, lambda optimizer, closure: optimizer.step(closure)))


def test_a_group_has_its_own_rate(name):
    model = net()
    before = weights(model)
    optimizer = build(
        name, [{"params": list(model[0].parameters())}, {"params": list(model[2].parameters()), "lr": 0.0}]
    )
    train(model, optimizer, range(3))
    moved = weights(model) != before
    assert moved[:56].any()
    assert not moved[56:].any()


def test_weight_decay_shrinks(name):
    """With zero gradients: decoupled in AdamW and SOAP (a factor a step), a force in ECD and SGD."""
    parameter = nn.Parameter(torch.full((3, 4), 2.0))
    more = {"init_velocity_std": 0.0} if name == "sgdm" else {}
    optimizer = build(name, [parameter], weight_decay=0.5, **more)
    descend(optimizer, lambda _: 1 + 0 * parameter.sum(), range(4))
    updates = 3 if name == "soap" else 4
    if name in ("adamw", "soap"):
        torch.testing.assert_close(parameter.detach(), torch.full((3, 4), 2.0 * (1 - 0.02 * 0.5) ** updates))
    assert parameter.norm() < 2 * 12**0.5


def test_every_parameter_is_optimised(name):
    """The completeness guard passes for a whole model, and names what is forgotten."""
    model = net()
    check_complete(build(name, model.parameters()), model)
    with pytest.raises(BadInput, match=r"misses 2\.bias, 2\.weight"):
        check_complete(build(name, model[0].parameters()), model)
    with pytest.raises(BadInput, match="holds 1 tensors"):
        check_complete(build(name, [*model.parameters(), nn.Parameter(torch.ones(1))]), model)
