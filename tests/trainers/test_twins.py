"""Networks in lockstep: the leader is an ordinary run, and a follower differs from it by the bit and by whose slopes it
uses."""

import math
from copy import deepcopy
from dataclasses import replace

import pytest
import tiny
import torch
from torch import nn
from torch.nn import functional as F

from actlab.errors import BadInput
from actlab.study.characters.twins import design, with_sources
from actlab.trainers.determinism import nudge_one_weight, weights_sha256
from actlab.trainers.evaluation import evaluate
from actlab.trainers.twins import (
    NEAR,
    RESCALED_TO,
    Design,
    Network,
    Pair,
    begin,
    compared,
    rescale,
    train_together,
)
from actlab.trainers.windows import RandomWindows, cover, spread


def together(names, activation="relu", moved=True, model="nanotransformer"):
    """(leader, followers, measured rows) of a tiny lockstep."""
    leader, followers = tiny.model(model, activation), {name: tiny.model(model, activation) for name in names}
    for net in followers.values() if moved else ():
        nudge_one_weight(net)
    batch = RandomWindows(tiny.text(), 8, tiny.RECIPE, 42).batch
    return leader, followers, rows_of(leader, followers, batch)


def rows_of(leader, followers, batch, iterations=tiny.RECIPE.iterations, windows=None):
    """The measured rows of a lockstep, whose predictions are compared at the end alone."""
    windows = windows or spread(tiny.text(), 8, 4)
    networks = {"": Network("", leader, Design("", beside=()), optimizer=tiny.adamw(leader))}
    for name, net in followers.items():
        optimizer = None if name == "untrained" else tiny.adamw(net)
        networks[name] = Network(name, net, design(name), networks.get(design(name).source), optimizer)
    return [*train_together([*networks.values()], batch, iterations, 42, windows, iterations)]


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


class Acts(nn.Module):
    """An activation and nothing else."""

    def __init__(self, activation):
        super().__init__()
        self.act = activation

    def forward(self, x):
        return self.act(x)


def beside(activation, a, b, name="copied"):
    """Two networks of one activation, and what the second gives at ``b`` beside the first at ``a``."""
    leader = Network("", Acts(deepcopy(activation)))
    follower = Network(name, Acts(deepcopy(activation)), design(name), leader)
    outs = [network.logits(given, 0) for network, given in ((leader, a), (follower, b))]
    return leader, follower, outs[1]


def test_under_relu_copying_is_the_leaders_mask():
    """Forward and backward: b where a > 0, else 0, whatever the sign of b."""
    a, b = torch.randn(400), torch.randn(400, requires_grad=True)
    leader, follower, out = beside(nn.ReLU(), a, b)
    torch.testing.assert_close(out, b * (a > 0), rtol=0, atol=1e-6)
    (gradient,) = torch.autograd.grad(out.sum(), b)
    assert gradient.tolist() == (a > 0).float().tolist()
    pair = Pair(leader, follower)
    pair.count(0)
    assert pair.row()["sides_apart"] == ((a > 0) != (b > 0)).sum() / 400


def test_under_gelu_copying_is_the_tangent():
    """Against the derivative by hand: Phi(a) + a phi(a)."""
    a, b = torch.randn(400).double(), torch.randn(400).double()
    _, _, out = beside(nn.GELU(), a, b)
    normal = torch.distributions.Normal(0.0, 1.0)
    slope = normal.cdf(a) + a * normal.log_prob(a).exp()
    torch.testing.assert_close(out, F.gelu(a) + slope * (b - a), rtol=1e-6, atol=1e-7)


def test_when_a_follower_copies():
    """A number is the step up to which the name holds, counted from 0."""
    names = ("own", "copied", "own-3", "copied-3", "rescaled")
    steps = {name: [step in design(name).copying for step in (0, 2, 3, 9)] for name in names}
    assert design("own").source is design("rescaled").source is None
    assert steps["copied"] == [True] * 4
    assert steps["own-3"] == [False, False, True, True]
    assert steps["copied-3"] == [True, True, False, False]
    with pytest.raises(BadInput, match=r"own-STEPS, copied-STEPS.*, not 'twin'"):
        design("twin")
    assert with_sources(["third", "driven-bit"]) == ["own", "third", "other", "driven", "driven-bit"]


def test_near_and_elsewhere_share_the_inputs():
    """By hand: near the corner is below 3% of the root mean square of the other's inputs."""
    a, b = torch.tensor([3.0, -4.0, 0.01, -0.01]), torch.tensor([-3.0, 4.0, -0.01, 0.01])
    edge = NEAR * (a.square().mean() ** 0.5)
    assert 0.01 < edge < 3
    _, _, near = beside(nn.ReLU(), a, b, "near")
    _, _, elsewhere = beside(nn.ReLU(), a, b, "elsewhere")
    torch.testing.assert_close(near, torch.tensor([0.0, 4.0, -0.01, 0.0]))
    torch.testing.assert_close(elsewhere, torch.tensor([-3.0, 0.0, 0.0, 0.01]))


def test_crossings_by_hand():
    """One of four inputs has another sign; expected are the differences near the corner, over its width."""
    a, b = torch.tensor([2.0, -2.0, 0.01, -0.02]), torch.tensor([2.5, -2.0, -0.01, -0.02])
    leader, follower, _ = beside(nn.ReLU(), a, b)
    width = 2 * NEAR * math.sqrt((4 + 4 + 0.01**2 + 0.02**2) / 4)
    pair = Pair(leader, follower)
    pair.count(7)
    row = pair.row()
    assert (row["crossings"], row["first_crossing"], row["inputs"], row["sides_apart"]) == (1, 7, 4, 0.25)
    assert row["expected_crossings"] == pytest.approx(0.02 / width)
    assert row["inputs"] * row["corner_density"] * row["corner_distance"] == pytest.approx(0.02 / width)
    assert pair.row()["crossings"] == 0


def test_as_many_inputs_cross_as_are_expected():
    """Of a million normal inputs that move by a thousandth."""
    draw = torch.Generator().manual_seed(1)
    a, move = torch.randn(1_000_000, generator=draw), 1e-3 * torch.randn(1_000_000, generator=draw)
    leader, follower, _ = beside(nn.ReLU(), a, a + move)
    pair = Pair(leader, follower)
    pair.count(0)
    row = pair.row()
    by_hand = 1e6 * 1e-3 * math.sqrt(2 / math.pi) / math.sqrt(2 * math.pi)  # N rho E|delta| = 318
    assert row["expected_crossings"] == pytest.approx(by_hand, rel=0.02)
    assert row["crossings"] == pytest.approx(by_hand, abs=4 * math.sqrt(by_hand))


def test_a_flipped_gate_is_one_gate():
    """The nearest input to 0 gives what the other side of the corner gives; others are as they were."""
    network = Network("flip-3", Acts(nn.ReLU()), design("flip-3"))
    for x, there in (([2.0, 0.5, -1.0], [2.0, 0.0, 0.0]), ([2.0, -0.5, -1.0], [2.0, -0.5, 0.0])):
        assert network.logits(torch.tensor(x), 3).tolist() == there


def test_a_flip_changes_nothing_before_its_step():
    """And from there on the follower is another network."""
    _, _, rows = together(["flip-3"], moved=False)
    apart = [row["weight_distance"] for row in rows]
    assert apart[:3] == [0, 0, 0]
    assert min(apart[3:]) > 0


def test_first_changes():
    """One weight of the last matrix moves: by a bit of float32, by the last bit of float64, by a size."""
    plain = begin(tiny.model("charlm", "relu"), "", torch.float64)
    for change, size in (("bit", 1e-9), ("ulp", 1e-18), ("1e-9", 1e-9), ("second bit", 1e-9)):
        moved = begin(tiny.model("charlm", "relu"), change, torch.float64)
        pairs = zip(plain.parameters(), moved.parameters(), strict=True)
        (difference,) = [(b - a).flatten() for a, b in pairs if not torch.equal(a, b)]
        place = 1 if change == "second bit" else 0
        assert difference.nonzero().tolist() == [[place]]
        assert size / 10 < difference[place] < 10 * size


def test_a_copying_follower_is_the_linear_response():
    """In float64 copied sides leave what a thousand times smaller first change does with its own, as it crosses
    nothing; a first change that crosses does more."""
    names = ["own-1e-12", "copied-1e-9"]
    nets = {name: begin(tiny.model("nanotransformer", "relu"), design(name).change, torch.float64) for name in names}
    leader, batch = tiny.model("nanotransformer", "relu").double(), RandomWindows(tiny.text(), 8, tiny.RECIPE, 42).batch
    rows = rows_of(leader, nets, batch)
    apart = {name: [row for row in rows if row["change"] == name] for name in names}
    assert not any("first_crossing" in row for row in apart["own-1e-12"])
    for small, large in zip(*apart.values(), strict=True):
        assert large["weight_distance"] / small["weight_distance"] == pytest.approx(1000, rel=0.01)
        assert large["corner_distance"] == pytest.approx(1000 * small["corner_distance"], rel=0.01)


def test_a_frozen_pair_has_the_gates_of_the_untrained_network():
    """That stays as it was, and lends its gates; the two frozen networks are compared with one another."""
    names = with_sources(["frozen-bit"])
    followers = {name: begin(tiny.model("charlm", "relu"), design(name).change, torch.float32) for name in names}
    was = weights_sha256(followers["untrained"])
    text, recipe = tiny.text(), tiny.RECIPE
    batch = RandomWindows(text, 8, recipe, 42).batch
    leader = tiny.model("charlm", "relu")
    rows = rows_of(leader, followers, batch)
    assert weights_sha256(followers["untrained"]) == was != weights_sha256(followers["frozen"])
    assert {(row["beside"], row["change"]) for row in rows} == {("", "frozen"), ("frozen", "frozen-bit")}
    assert "total_variation" in rows[-1]
    assert "total_variation" not in rows[0]


def test_a_compared_loss_counts_every_position_once():
    """The last window repeats positions, which count for nothing: the loss is that of an ordinary evaluation."""
    net, windows = tiny.model("charlm", "relu"), cover(tiny.text(70), 8)
    network = Network("own", net)
    (row,) = compared([network], [Pair(network, network)], windows, 0)
    assert row["val_loss_as_trained"] == pytest.approx(evaluate(net, windows)["val_loss"])
    assert row["total_variation"] == 0


def test_another_network_may_lend_its_sides():
    """A pair that is driven by a third network is not compared with it, and neither copies the other."""
    names = with_sources(["driven-bit", "other-copied", "third"])
    followers = {name: begin(tiny.model("charlm", "relu"), design(name).change, torch.float32) for name in names}
    batch = RandomWindows(tiny.text(), 8, tiny.RECIPE, 42).batch
    rows = rows_of(tiny.model("charlm", "relu"), followers, batch, 3)
    found = {(row["beside"], row["change"]) for row in rows}
    assert found == {
        *(("", name) for name in names if name != "driven-bit"),
        ("driven", "driven-bit"),
        ("own", "third"),
    }


def test_rescaling_moves_a_follower_on_its_line_to_the_leader():
    """Weights and the optimizer's averages alike; the leader stays."""
    nets = [tiny.model("charlm", "gelu").double() for _ in range(2)]
    nudge_one_weight(nets[1])
    one, other = (Network("", net, optimizer=torch.optim.AdamW(net.parameters(), 0.01)) for net in nets)
    for network in (one, other):
        network.net(tiny.text()[:8].long()[None]).square().mean().backward()
        network.optimizer.step()

    def state(network):
        of = network.optimizer.state
        return [each.detach().clone() for w in network.net.parameters() for each in (w, of[w]["exp_avg"])]

    leader, follower = state(one), state(other)
    rescale(one, other, 0.25)
    expected = [a + (b - a) / 4 for a, b in zip(leader, follower, strict=True)]
    torch.testing.assert_close(state(other), expected, rtol=0, atol=1e-15)
    assert all(map(torch.equal, state(one), leader))


def test_rescaling_does_not_change_how_fast_a_small_difference_grows():
    """A smooth network is linear in a difference so small: the growths of single stretches multiply to that of all."""
    nets = [tiny.model("charlm", "gelu") for _ in range(3)]
    for net in nets[1:]:
        nudge_one_weight(net)
    for net in nets:
        net.double()  # one bit of float32
    recipe = replace(tiny.RECIPE, iterations=31)
    batch, followers = RandomWindows(tiny.text(), 8, recipe, 42).batch, {"own": nets[1], "rescaled": nets[2]}
    rows = rows_of(nets[0], followers, batch, recipe.iterations)
    away = {
        name: {row["iteration"]: row["weight_distance"] for row in rows if row["change"] == name}
        for name in ("own", "rescaled")
    }
    growth = math.prod(away["rescaled"][step] / RESCALED_TO for step in (10, 20, 30))
    assert growth == pytest.approx(away["own"][30] / away["own"][0], rel=1e-3)
