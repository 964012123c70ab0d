"""GPT-2: sizes, causality, and every numeric fact about symmetry-breaking attention."""

from dataclasses import replace
from itertools import product

import pytest
import tiny
import torch

from actlab.activations import ACTIVATIONS
from actlab.models import count_parameters
from actlab.models.gpt2 import GPT2, GPT2_SCALES, SymmetryBreakingAttention
from actlab.models.symmetry import MODES, distributions


def attention(**changes):
    layer = SymmetryBreakingAttention(replace(tiny.GPT2_CONFIG, **changes)).double()
    with torch.no_grad():
        for seed, p in enumerate(layer.parameters()):
            p.copy_(0.5 * tiny.normal(*p.shape, seed=seed))
    return layer


INPUTS = tiny.normal(2, 8, 24, seed=9)


def test_presets_have_the_published_parameters():
    """The 124m size exactly, the others about what their names say."""

    def count(scale, activation="gelu"):
        with torch.device("meta"):
            return count_parameters(GPT2(GPT2_SCALES[scale], ACTIVATIONS[activation]))

    assert (count("124m"), count("124m", "random_prelu")) == (124_082_688, 124_082_688 + 36_864)
    millions = {"quick": 0.137, "mini": 10.02, "355m": 354.33, "774m": 773.43, "1.3b": 1312.61}
    assert {scale: count(scale) / 1e6 for scale in millions} == pytest.approx(millions, rel=0.005)


@pytest.mark.parametrize(("mode", "evaluation"), [*product(MODES, ("last", "mean"))])
def test_no_position_sees_the_future(mode, evaluation):
    net, tokens = tiny.enlarge(tiny.gpt2(symmetry=mode, evaluation=evaluation)).eval(), tiny.tokens()
    before = net(tokens)
    tokens[:, 5:] = (tokens[:, 5:] + 3) % 11
    assert (net(tokens) == before).all(-1).any(0).tolist() == [True] * 5 + [False] * 3


def output(layer, **vectors):
    """Of the layer whose symmetry-breaking vectors are these; those that it has beside them are 0."""
    for role, buffer in layer.symmetry.vectors().items():
        buffer.copy_(vectors.get(role, torch.zeros(8)))
    return layer(INPUTS)


def test_a_vector_on_all_keys_cancels_in_the_softmax():
    """q . bK is the same for every key."""
    layer, query = attention(symmetry="bQbKbV"), torch.full((8,), 0.5)
    found = output(layer, query=query, key=torch.linspace(-3, 3, 8))
    torch.testing.assert_close(found, output(layer, query=query), rtol=0, atol=1e-12)


def test_a_vector_on_the_values_shifts_every_head_by_exactly_itself():
    """Rows of attention sum to 1, so the output moves by the projection of the repeated vector, at every position."""
    layer, shift = attention(symmetry="bQbV"), torch.linspace(-1, 2, 8)
    expected = layer.out.weight @ shift.double().repeat(3)
    moved = output(layer, value=shift) - output(layer)
    torch.testing.assert_close(moved, expected.expand(2, 8, 24), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("mode", "invariant"), [("symmetric", True), ("bQ", False)])
def test_scores_are_invariant_under_any_linear_map_unless_the_symmetry_is_broken(mode, invariant):
    """(Q, K) -> (Q M, K M^-T) for any invertible M, within each head; bQ breaks it."""
    layer = attention(symmetry=mode)
    before = layer(INPUTS)
    m = torch.block_diag(*[torch.eye(8) + 0.4 * tiny.normal(8, 8, seed=5)] * 3)
    for parameter in layer.qkv.parameters():
        query, key, _ = parameter.data.chunk(3)
        query.copy_(m.T @ query)
        key.copy_(m.inverse() @ key)
    change = (layer(INPUTS) - before).abs().max()
    assert change < 1e-11 if invariant else change > 1e-3


def test_draws_follow_the_published_distributions():
    layer, draws = tiny.gpt2(symmetry="bQbKbV").blocks[0].attention.symmetry, []
    for _ in range(1500):
        layer.draw()
        draws.append({role: vector.clone() for role, vector in layer.vectors().items()})
    for role, (mean, spread) in distributions(8).items():
        seen = torch.stack([draw[role] for draw in draws])
        torch.testing.assert_close(seen.mean(0), mean, rtol=0, atol=0.02)
        torch.testing.assert_close(seen.std(0), spread, rtol=0.08, atol=0)
    assert distributions(8)["query"][1][[0, -1]].tolist() == pytest.approx([0.05, 0.15])
    assert distributions(8)["key"][1][[0, -1]].tolist() == pytest.approx([0.12, 0.08])


def test_every_training_forward_draws_anew_and_layers_draw_apart():
    net = tiny.gpt2(symmetry="bQbV").train()
    seen = []
    for _ in range(2):
        net(tiny.tokens())
        seen += [layer.vectors()["query"].clone() for _, layer in net.symmetry_layers()]
    assert len({tuple(vector.tolist()) for vector in seen}) == 4


def test_evaluation_policies():
    """The last training draw, which goes with the state; or the means."""
    net, found = tiny.enlarge(tiny.gpt2(symmetry="bQbV")).train(), {}
    last = net(tiny.tokens())
    for policy in ("last", "mean"):
        other = tiny.gpt2(symmetry="bQbV", evaluation=policy)
        other.load_state_dict(net.state_dict())
        found[policy] = other.eval()(tiny.tokens())
    assert found["last"].equal(last)
    for _, layer in net.symmetry_layers():
        for role, mean in layer.means().items():
            layer.get_buffer(role).copy_(mean)
    assert net.eval()(tiny.tokens()).equal(found["mean"]) != found["mean"].equal(last)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Guards may run slower on Python 3.13.0")
def test_compiled_agrees():
    """A compiled GPT-2 with random vectors gives the logits of the plain one, in training and after it."""
    net, other = (tiny.enlarge(tiny.gpt2(symmetry="bQbV")) for _ in range(2))
    compiled = torch.compile(other, backend="eager")
    for training in (True, True, False):
        net.train(training), other.train(training)
        torch.testing.assert_close(compiled(tiny.tokens()), net(tiny.tokens()))
