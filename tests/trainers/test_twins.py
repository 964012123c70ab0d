"""Networks in lockstep: the leader is an ordinary run, and a follower differs from it by the bit and by whose slopes it
uses."""

import pytest
import tiny
import torch
from torch import nn
from torch.nn import functional as F

from actlab.errors import BadInput
from actlab.trainers.determinism import perturb, weights_sha256
from actlab.trainers.twins import Follow, Inputs, Lead, copies, train_together


def together(names, activation="relu", moved=True, model="nanotransformer"):
    """(leader, followers, measured rows) of a tiny lockstep."""
    leader, followers = tiny.model(model, activation), {name: tiny.model(model, activation) for name in names}
    for net in followers.values() if moved else ():
        perturb(net)
    rows = train_together(leader, followers, tiny.text(), 8, tiny.RECIPE, "adamw", 42)
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


def test_under_relu_copying_is_the_leaders_mask():
    """Forward and backward: b where a > 0, else 0, whatever the sign of b."""
    a, b, seen = torch.randn(400), torch.randn(400, requires_grad=True), Inputs()
    Lead(nn.ReLU(), seen)(a)
    follow = Follow(nn.ReLU(), seen, 0)
    follow.copying = True
    out = follow(b)
    torch.testing.assert_close(out, b * (a > 0), rtol=0, atol=1e-6)
    (gradient,) = torch.autograd.grad(out.sum(), b)
    assert gradient.tolist() == (a > 0).float().tolist()
    assert follow.apart == ((a > 0) != (b > 0)).sum()


def test_under_gelu_copying_is_the_tangent():
    """Against the derivative by hand: Phi(a) + a phi(a)."""
    a, b, seen = torch.randn(400).double(), torch.randn(400).double(), Inputs()
    Lead(nn.GELU(), seen)(a)
    follow = Follow(nn.GELU(), seen, 0)
    follow.copying = True
    normal = torch.distributions.Normal(0.0, 1.0)
    slope = normal.cdf(a) + a * normal.log_prob(a).exp()
    torch.testing.assert_close(follow(b), F.gelu(a) + slope * (b - a), rtol=1e-6, atol=1e-7)


def test_when_a_follower_copies():
    """A number is the step up to which the name holds, counted from 0."""
    steps = {name: [copies(name, step) for step in (0, 2, 3, 9)] for name in ("own", "copied", "own-3", "copied-3")}
    assert steps["own"] == [False] * 4
    assert steps["copied"] == [True] * 4
    assert steps["own-3"] == [False, False, True, True]
    assert steps["copied-3"] == [True, True, False, False]
    with pytest.raises(BadInput, match="own, copied, own-STEPS or copied-STEPS, not 'twin'"):
        copies("twin", 0)
