"""Training on token shards: every optimizer, resumption bit for bit, accumulation, schedules, and the standard error of
a loss."""

import math
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import tiny
import torch
from torch import nn

from actlab.data.tokens import TokenStream, write_shard
from actlab.optimizers import OPTIMIZERS, build_optimizer
from actlab.trainers import loop
from actlab.trainers.evaluation import evaluate, measure
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import generator
from actlab.trainers.windows import cover

RECIPE = Recipe(iterations=12, evaluate_every=4)
TOKENS = (np.arange(3000) * 7 + np.arange(3000) // 11 * 3) % 29
"""A text with structure: half of it follows from the token before."""


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    return write_shard(tmp_path_factory.mktemp("shards") / "train_000.bin", TOKENS)


def windows():
    return cover(torch.from_numpy(TOKENS[:333]), 8)


def model(**changes):
    changes = {"vocab_size": 29, "dropout": 0.1, "symmetry": "bQbV", "evaluation": "mean"} | changes
    return tiny.gpt2(1, "random_prelu", **changes)


def run(shard, name, recipe, batch=4, net=None, **more):
    net = net or model()
    settings = more.pop("settings", {"nu": 0.3, "F0": 0.0} if name == "ecd" else {})
    optimizer = build_optimizer(name, net.parameters(), generator(1, "optimizer"), **settings)
    stream = TokenStream([shard], 8, batch, lambda epoch: generator(1, f"order/{epoch}"))

    def measured(net, iteration):
        return {"tokens": iteration * recipe.micro_batches * batch * 8, **measure(net, windows())}

    return loop.train(loop.Training(net, optimizer, stream.batch, measured, recipe, 1, **more))


@pytest.mark.parametrize("name", list(OPTIMIZERS))
def test_resumes_bit_equal(shard, name, tmp_path, monkeypatch):
    """Optimizer, symmetry-breaking streams, dropout, order and schedule all go on; accumulation too."""
    ticks = count()
    monkeypatch.setattr(loop.time, "perf_counter", lambda: float(next(ticks)))
    recipe = replace(RECIPE, micro_batches=2, schedule="cosine", warmup=3)
    whole = run(shard, name, recipe)
    saved_at = tmp_path / "trial.checkpoint"
    for at in (6, 10):
        with pytest.raises(ZeroDivisionError):
            run(shard, name, recipe, saved_at=saved_at, on_progress=lambda step, loss, at=at: 1 / max(0, at - step))
    torch.rand(5)
    assert tiny.outcome(run(shard, name, recipe, saved_at=saved_at)) == tiny.outcome(whole)


@pytest.mark.parametrize("name", ["adamw", "ecd"])
def test_accumulation_is_a_larger_batch(shard, name):
    """Without randomness inside the model, two micro-batches of 4 are one batch of 8, up to rounding."""
    still = {"dropout": 0.0, "symmetry": "symmetric"}
    small, large = (
        run(shard, name, replace(RECIPE, micro_batches=m), batch=b, net=model(**still), settings={})
        for m, b in ((2, 4), (1, 8))
    )
    assert small.final["tokens"] == large.final["tokens"] == 12 * 8 * 8
    assert small.final["val_loss"] == pytest.approx(large.final["val_loss"], rel=1e-4)


def test_measure_agrees_with_the_other_loop_and_a_slow_standard_error():
    net, fixed = model().eval(), windows()
    got = measure(net, fixed)
    plain = evaluate(net, fixed)
    assert {name: got[name] for name in plain} == pytest.approx(plain, rel=1e-6)
    with torch.no_grad():
        pairs = zip(fixed.inputs, fixed.targets, strict=True)
        losses = [nn.functional.cross_entropy(net(x[None])[0], y, ignore_index=-100).item() for x, y in pairs]
    spread = np.square(np.subtract(losses, plain["val_loss"])).mean()
    assert got["val_standard_error"] == pytest.approx(math.sqrt(spread / (len(losses) - 1)), rel=1e-5)
