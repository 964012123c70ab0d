"""Networks in lockstep: the leader is an ordinary run, and a follower differs from it by the bit and by whose slopes it
uses."""

import math
from dataclasses import replace

import pytest
import tiny
import torch
from torch import nn
from torch.nn import functional as F

from actlab.activations import slope
from actlab.errors import BadInput
from actlab.trainers.determinism import perturb, weights_sha256
from actlab.trainers.twins import RESCALED_TO, Follower, copies, distance, rescale, train_together
from actlab.trainers.windows import RandomWindows


def together(names, activation="relu", moved=True, model="nanotransformer"):
    """(leader, followers, measured rows) of a tiny lockstep."""
    leader, followers = tiny.model(model, activation), {name: tiny.model(model, activation) for name in names}
    for net in followers.values() if moved else ():
        perturb(net)
    batch = RandomWindows(tiny.text(), 8, tiny.RECIPE, 42).batch
    rows = train_together(leader, followers, batch, tiny.RECIPE.iterations, tiny.adamw, 42)
    return leader, followers, list(rows)


def test_the_leader_is_an_ordinary_run():
    """Followers and the notes that are taken change none of its bits: batches and dropout are those of the loop."""
    plain = tiny.model("nanotransformer", "relu")
    tiny.run(plain)
    leader, _, _ = together(["own", "copied"])
    assert weights_sha256(leader) == weights_sha256(plain)


@pytest.mark.parametrize("activation", ["relu", "gelu", "smelu_0.3"])
def test_without_the_bit_every_follower_is_the_leader(activation):
    """Its own slopes at the leader's inputs are the leader's: f(a) + f'(a)(a - a) is f(a)."""
    leader, followers, rows = together(["own", "copied", "own-3"], activation, moved=False)
    assert {weights_sha256(net) for net in followers.values()} == {weights_sha256(leader)}
    assert all(row["weight_distance"] == row["gradient_distance"] == row["sides_apart"] == 0 for row in rows)


def copied(activation, a, b):
    """A copying follower, and what its activation gives at ``b`` where the leader's got ``a``."""
    follower = Follower([(a, slope(activation.forward, a))], copying=True)
    return follower, follower.follow(activation, (b,), activation(b))


def test_under_relu_copying_is_the_leaders_mask():
    """Forward and backward: b where a > 0, else 0, whatever the sign of b."""
    a, b = torch.randn(400), torch.randn(400, requires_grad=True)
    follower, out = copied(nn.ReLU(), a, b)
    torch.testing.assert_close(out, b * (a > 0), rtol=0, atol=1e-6)
    (gradient,) = torch.autograd.grad(out.sum(), b)
    assert gradient.tolist() == (a > 0).float().tolist()
    assert follower.apart == ((a > 0) != (b > 0)).sum() / 400


def test_under_gelu_copying_is_the_tangent():
    """Against the derivative by hand: Phi(a) + a phi(a)."""
    a, b = torch.randn(400).double(), torch.randn(400).double()
    _, out = copied(nn.GELU(), a, b)
    normal = torch.distributions.Normal(0.0, 1.0)
    slope = normal.cdf(a) + a * normal.log_prob(a).exp()
    torch.testing.assert_close(out, F.gelu(a) + slope * (b - a), rtol=1e-6, atol=1e-7)


def test_when_a_follower_copies():
    """A number is the step up to which the name holds, counted from 0."""
    names = ("own", "copied", "own-3", "copied-3", "rescaled")
    steps = {name: [copies(name, step) for step in (0, 2, 3, 9)] for name in names}
    assert steps["own"] == steps["rescaled"] == [False] * 4
    assert steps["copied"] == [True] * 4
    assert steps["own-3"] == [False, False, True, True]
    assert steps["copied-3"] == [True, True, False, False]
    with pytest.raises(BadInput, match=r"own-STEPS, copied-STEPS or rescaled, not 'twin'"):
        copies("twin", 0)


def test_rescaling_moves_a_follower_on_its_line_to_the_leader():
    """Weights and the optimizer's averages alike, nearer or further away; the leader stays."""
    leader, follower = (tiny.model("charlm", "gelu").double() for _ in range(2))
    perturb(follower)
    optimizers = tuple(torch.optim.AdamW(net.parameters(), 0.01) for net in (leader, follower))
    for net, optimizer in zip((leader, follower), optimizers, strict=True):
        net(tiny.text()[:8].long()[None]).square().mean().backward()
        optimizer.step()
    own = [[each.detach().clone() for each in net.parameters()] for net in (leader, follower)]
    moment = [
        [optimizer.state[w]["exp_avg"].clone() for w in optimizer.param_groups[0]["params"]] for optimizer in optimizers
    ]
    rescale((leader, follower), optimizers, 0.25)
    found = [w.detach() for w in follower.parameters()]
    torch.testing.assert_close(found, [a + (b - a) / 4 for a, b in zip(*own, strict=True)], rtol=0, atol=1e-15)
    found = [optimizers[1].state[w]["exp_avg"] for w in follower.parameters()]
    torch.testing.assert_close(found, [a + (b - a) / 4 for a, b in zip(*moment, strict=True)], rtol=0, atol=1e-15)
    assert distance([w.detach() for w in leader.parameters()], own[0]) == 0


def test_rescaling_does_not_change_how_fast_a_small_difference_grows():
    """A smooth network is linear in a difference so small: the growths of single stretches multiply to that of all."""
    nets = [tiny.model("charlm", "gelu") for _ in range(3)]
    for net in nets[1:]:
        perturb(net)
    for net in nets:
        net.double()  # one bit of float32
    recipe = replace(tiny.RECIPE, iterations=31)
    batch, followers = RandomWindows(tiny.text(), 8, recipe, 42).batch, {"own": nets[1], "rescaled": nets[2]}
    rows = list(train_together(nets[0], followers, batch, recipe.iterations, tiny.adamw, 42))
    away = {
        name: {row["iteration"]: row["weight_distance"] for row in rows if row["change"] == name}
        for name in ("own", "rescaled")
    }
    growth = math.prod(away["rescaled"][step] / RESCALED_TO for step in (10, 20, 30))
    assert growth == pytest.approx(away["own"][30] / away["own"][0], rel=1e-3)
