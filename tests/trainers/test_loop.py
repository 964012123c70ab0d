"""The training loop: the seed decides the bits, each stream alone matters, and the caller's state stays untouched."""

import math
from dataclasses import replace

import pytest
import tiny
import torch
from torch import nn
from torch.nn import functional as F

from actlab.errors import BadInput
from actlab.trainers import loop
from actlab.trainers.determinism import nudge_one_weight, reproducible, shift_one_weight, weights_sha256
from actlab.trainers.evaluation import evaluate, predict
from actlab.trainers.windows import RandomWindows, cover


def test_the_callers_state_comes_back():
    """Global stream and determinism settings are what they were, also when training raises."""

    def state():
        return torch.get_rng_state().tolist(), torch.get_deterministic_debug_mode()

    model, seen, before = tiny.model(), set(), state()
    model.register_forward_hook(lambda *_: seen.add(torch.are_deterministic_algorithms_enabled()))
    tiny.run(model)
    with pytest.raises(ZeroDivisionError), reproducible(3):
        torch.rand(3).mul_(1 / 0)
    assert (seen, state()) == ({True}, before)


def test_a_forgotten_weight_is_refused():
    """Nothing but all weights of the model are optimised: one that is not would silently stay as it is."""
    net, recipe = tiny.model(), tiny.RECIPE
    batch = RandomWindows(tiny.text(), 8, recipe, 42).batch
    for weights in ([*net.parameters()][1:], [*net.parameters(), nn.Parameter(torch.ones(1))]):
        with pytest.raises(BadInput, match="other weights than the model"):
            loop.Training(net, torch.optim.SGD(weights), batch, lambda model, _: {}, recipe, 42)


def test_against_a_plain_loop():
    """The loop is AdamW on mean cross-entropy over the announced batches: a reference of ten lines ends in the same
    weights."""
    ours, plain, text = tiny.model("nanotransformer"), tiny.model("nanotransformer"), tiny.text()
    recipe = tiny.RECIPE
    trial = tiny.run(ours, rate=1e-2, decay=0.1)
    optimizer = torch.optim.AdamW(plain.parameters(), lr=1e-2, weight_decay=0.1)
    losses = []
    for starts in RandomWindows(text, 8, recipe, 42).starts:
        batch = torch.stack([text[s : s + 9] for s in starts]).long()
        loss = F.cross_entropy(plain(batch[:, :-1]).reshape(-1, 11), batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    for a, b in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-6)
    means = [sum(losses[i : i + 3]) / 3 for i in (0, 3, 6)]
    assert [entry["train_loss"] for entry in trial.progress.history[1:]] == pytest.approx(means, rel=1e-4)


class Table(nn.Module):
    """Logits that depend on the current token alone; dropout while training."""

    def __init__(self):
        super().__init__()
        self.config = tiny.CONFIG
        self.table = nn.Embedding(11, 11)

    def forward(self, tokens):
        return F.dropout(self.table(tokens), 0.5, self.training)


@pytest.mark.parametrize("length", [9, 33, 70, 1003])
def test_evaluation_is_the_mean_over_every_position(length):
    """Loss and accuracy equal a direct computation over all characters but the first, whatever mode the model is in."""
    model, text = Table(), tiny.text(length).long()
    logits = model.eval()(text[:-1])
    right = (logits.argmax(1) == text[1:]).double().mean().item()
    expected = {"val_loss": F.cross_entropy(logits, text[1:]).item(), "val_accuracy": 100 * right}
    for training in (True, False):
        model.train(training)
        assert evaluate(model, cover(text, 8)) == pytest.approx(expected, rel=1e-6)
        assert model.training == training
    assert torch.allclose(predict(model, cover(text, 8)).sum(1), torch.ones(()))


def test_evaluation_inside_of_a_callers_autocast_has_the_same_numbers():
    """It is of float32, whatever the caller casts."""
    model, windows = tiny.model(), cover(tiny.text(70), 8)
    alone = evaluate(model, windows)
    with torch.autocast("cpu", torch.bfloat16):
        assert evaluate(model, windows) == alone


def test_divergence_is_a_status(architecture):
    """A learning rate of 1e9 ends as ``diverged``, at the evaluation that saw it, with the NaN or infinity kept in the
    history."""
    trial = tiny.run(tiny.model(architecture), replace(tiny.RECIPE, iterations=30), rate=1e9)
    assert trial.status == "diverged"
    assert trial.progress.iteration < 30
    assert not (math.isfinite(trial.final["val_loss"]) and math.isfinite(trial.final["train_loss"]))
    assert all(math.isfinite(entry["val_loss"]) for entry in trial.progress.history[:-1])
    assert math.isfinite(trial.best["val_loss"])


def test_best_is_the_first_lowest_and_never_nan():
    """Best and final are two things: the lowest validation loss (first of equals), and the last one."""
    losses = [math.nan, 3.0, 2.0, 2.5, 2.0, math.nan]
    history = [{"iteration": i, "val_loss": loss} for i, loss in enumerate(losses)]
    trial = loop.Trained("diverged", loop.Progress(4, history), "")
    assert trial.best["iteration"] == 2
    assert trial.final["iteration"] == 5


def test_bfloat16_autocast(architecture):
    """Mixed precision trains, keeps weights in float32, and gives other bits than float32."""
    model = tiny.model(architecture)
    if tiny.lacks_bfloat16(architecture):
        pytest.skip("this processor has no bfloat16 kernel for an LSTM")
    trial = tiny.run(model, replace(tiny.RECIPE, dtype="bfloat16"))
    assert trial.status == "done"
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    reference = tiny.run(tiny.model(architecture))
    assert trial.weights_sha256 != reference.weights_sha256
    assert trial.final["val_loss"] == pytest.approx(reference.final["val_loss"], rel=0.02)


def test_bfloat16_inside_of_a_callers_autocast_has_the_same_bits():
    """PyTorch keeps weights that it has cast until the outermost autocast is left: a training inside of another one
    went on with its first weights."""
    recipe = replace(tiny.RECIPE, dtype="bfloat16")
    alone = tiny.outcome(tiny.run(tiny.model(), recipe))
    with torch.autocast("cpu", enabled=False):
        assert tiny.outcome(tiny.run(tiny.model(), recipe)) == alone


def test_a_nudge_is_one_ulp_of_one_weight(architecture):
    """It moves a single number of the last matrix to its float neighbour."""
    before, after = tiny.model(architecture), tiny.model(architecture)
    nudge_one_weight(after)
    pairs = zip(before.named_parameters(), after.parameters(), strict=True)
    moved = {key: (a[a != b], b[a != b]) for (key, a), b in pairs if not torch.equal(a, b)}
    assert list(moved) == ["head.weight"]
    old, new = moved["head.weight"]
    assert old.nextafter(torch.tensor([math.inf])).equal(new)
    assert len(new) == 1


def test_every_evaluation_is_told_and_changes_nothing():
    """Before training, every ``evaluate_every`` steps and at the end; the callback sees the weights as they are there;
    the trial's bits stay. The first evaluation has no training loss."""
    seen, recipe = {}, replace(tiny.RECIPE, iterations=7)
    trial = tiny.run(tiny.model(), recipe, on_evaluation=lambda step, model: seen.update({step: weights_sha256(model)}))
    assert list(seen) == [entry["iteration"] for entry in trial.progress.history] == [0, 3, 6, 7]
    assert [math.isnan(entry["train_loss"]) for entry in trial.progress.history] == [True, False, False, False]
    assert len(set(seen.values())) == 4
    assert seen[7] == trial.weights_sha256
    assert tiny.outcome(trial) == tiny.outcome(tiny.run(tiny.model(), recipe))


def test_schedules_of_the_rate():
    """linear: step i of n has the share 1 - i/n of the rate; constant: all of it, which ends in other weights;
    cooldown: all of the rate, then 1 to 0 over the last half; cosine: half a cosine to a tenth (after a warm-up)."""
    falling = replace(tiny.RECIPE, iterations=4, evaluate_every=4, schedule="linear")
    assert [falling.rate(i) for i in range(4)] == [1, 0.75, 0.5, 0.25]
    assert tiny.RECIPE.rate(3) == 1
    one, other = (tiny.run(tiny.model(), recipe) for recipe in (falling, replace(falling, schedule="constant")))
    assert one.weights_sha256 != other.weights_sha256
    cooldown = replace(tiny.RECIPE, iterations=8, schedule="cooldown")
    assert [cooldown.rate(i) for i in range(8)] == [1, 1, 1, 1, 1, 0.75, 0.5, 0.25]
    cosine = replace(tiny.RECIPE, iterations=100, schedule="cosine", warmup=2)
    assert [cosine.rate(i) for i in (0, 1, 2)] == [0.5, 1, 1]
    assert cosine.rate(51) == pytest.approx(0.55)
    assert cosine.rate(100) == pytest.approx(0.1)


def test_averages_follow_the_weights_and_change_no_bit():
    """average <- d average + (1 - d) weights after every step, from the weights after the first, for several d;
    training does not notice."""
    decays, recipe, seen = (0.5, 0.8), replace(tiny.RECIPE, iterations=5, evaluate_every=1), []
    trial = tiny.run(
        tiny.model(),
        replace(recipe, average=decays),
        on_evaluation=lambda i, m: seen.append(m.head.weight.detach().clone()),
    )
    for decay, average in zip(decays, trial.averages, strict=True):
        expected = seen[1]
        for weights in seen[2:]:
            expected = decay * expected + (1 - decay) * weights
        torch.testing.assert_close(average.head.weight.detach(), expected)
    assert trial.weights_sha256 == tiny.run(tiny.model(), recipe).weights_sha256


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_shift_moves_one_weight_by_a_share_of_its_matrixs_norm(seed):
    """Up under an even seed, down under an odd one; which weight, the seed says."""
    plain, moved = tiny.model(), tiny.model()
    shift_one_weight(moved, 1e-2, seed)
    changed = [(a, b) for a, b in zip(plain.parameters(), moved.parameters(), strict=True) if not torch.equal(a, b)]
    ((a, b),) = changed
    difference = (b - a).flatten()
    (by,) = difference[difference != 0].tolist()
    assert by == pytest.approx((1 if seed % 2 == 0 else -1) * 1e-2 * a.norm().item(), rel=1e-3)


def test_a_long_gradient_is_clipped():
    """A limit that no gradient reaches changes no bit; a short one changes the weights."""
    weights = []
    for clip in (0.0, 1e6, 1e-3):
        model = tiny.model()
        tiny.run(model, replace(tiny.RECIPE, clip=clip), rate=1e-2)
        weights.append(weights_sha256(model))
    assert weights[0] == weights[1] != weights[2]
