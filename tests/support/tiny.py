"""Sizes at which a test trains in milliseconds. Not a test."""

import json
import subprocess
import sys
from dataclasses import replace

import torch

from actlab import cli
from actlab.activations import ACTIVATIONS
from actlab.models import MODELS, ModelConfig, build_model
from actlab.models.gpt2 import GPT2, GPT2_SCALES, GPT2Config
from actlab.models.image_classifier import FFN
from actlab.study.cache import run_task, train_afresh
from actlab.study.images import ImageStudy
from actlab.study.run import run_experiment, tasks_of
from actlab.study.tokens import TokenStudy
from actlab.study.trial import Task
from actlab.trainers.evaluation import evaluate
from actlab.trainers.loop import Training, train
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import init_streams
from actlab.trainers.windows import RandomWindows, cover

CONFIG = ModelConfig(vocab_size=11, n_layer=2, n_embd=12, n_head=2, block_size=8, dropout=0.2)
GPT2_CONFIG = GPT2Config(vocab_size=11, n_layer=2, n_embd=24, n_head=3, block_size=8, dropout=0.0)
RECIPE = Recipe(iterations=9, evaluate_every=3, batch_size=4)
STUDY = {
    "trials": 2,
    "iterations": 4,
    "evaluate_every": 2,
    "batch_size": 2,
    "prediction_windows": 8,
    "noise_floor": False,
}
"""Of language models: their parameters beside model and activations."""
SWEEP = {"network": ["relu"], "hidden": [2], "learning_rate": [0.01], "batch_size": [64], "trials": 2}
ABLATION = {"iterations": 2, "evaluate_every": 1, "batch_size": 2, "vocab_size": 300, "validation_windows": 4}
FOX = "the quick brown fox jumps over the lazy dog; " * 30
CATS = " ".join(f"the {i * 7919 % 997} cats sat on {i % 13} mats" for i in range(400))
"""A text that a small vocabulary of tokens shortens."""


def ran(command, fails=False, **more):
    """A process that has ended well, or not where ``fails``; what it printed is the message of a failing test."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    assert bool(done.returncode) == fails, done.stdout[-3000:] + done.stderr[-3000:]
    return done


def typed(*words):
    """Exit code of ``actlab WORDS``."""
    sys.argv = ["actlab", *map(str, words)]
    try:
        cli.main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def arm(settings, model="charlm", activation="relu"):
    """The first arm of a study of one model under one activation."""
    return settings.replace(model=model, activation=activation).arms()[0]


def task(trial, snapshots=()):
    """What trains a trial alone."""
    return Task((trial,), snapshots)


def cached(trial, **asked):
    """What a trial leaves, trained or from the cache."""
    return run_task(task(trial, **asked))[0]


def afresh(trial, **asked):
    """(results, tensors) of a trial that is trained afresh."""
    return train_afresh(task(trial, **asked))[0]


def relu(settings):
    """The record of charlm with relu."""
    return run_experiment("charlm", "relu", settings)


def model(name="charlm", activation="gelu", seed=42, config=CONFIG, gated_width="matched"):
    """A freshly initialised tiny model."""
    return build_model(name, config, activation, gated_width=gated_width, generator_for=init_streams(seed))


def lacks_bfloat16(name):
    """Whether a model has an LSTM, which this processor cannot run in bfloat16."""
    return name in ("hybridlm", "tinylstm") and not torch.ops.mkldnn._is_mkldnn_bf16_supported()


def gpt2(seed=42, activation="gelu", **changes):
    """A freshly initialised GPT-2."""
    net = GPT2(replace(GPT2_CONFIG, **changes), ACTIVATIONS[activation])
    net.initialise(init_streams(seed))
    return net


def ffn(activation, width=8, seed=0, features=784):
    """A freshly initialised image classifier of ten classes."""
    net = FFN(features, width, 10, ACTIVATIONS[activation])
    net.initialise(init_streams(seed))
    return net


def text(length=400, seed=0):
    """Random character numbers."""
    return torch.randint(CONFIG.vocab_size, (length,), generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)


def tokens(batch=2, time=CONFIG.block_size):
    """Random model inputs (B, T)."""
    return torch.randint(CONFIG.vocab_size, (batch, time), generator=torch.Generator().manual_seed(1))


def normal(*shape, seed=0):
    """Random numbers in float64."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def enlarge(module, factor=20.0):
    """Matrices times ``factor``: far from the near-linear start, so that functions that agree near 0 come apart."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.mul_(factor)
    return module


def adamw(net, rate=3e-4, decay=0.01):
    """The optimizer of a tiny training."""
    return torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=decay, fused=True)


def run(net, recipe=RECIPE, rate=3e-4, decay=0.01, **more):
    """Train on the tiny text."""
    validation, batch = cover(text(70, seed=1), 8), RandomWindows(text(), 8, recipe, 42).batch
    optimizer = adamw(net, rate, decay)
    return train(Training(net, optimizer, batch, lambda model, _: evaluate(model, validation), recipe, 42, **more))


def tasks(toy, monkeypatch):
    """Name -> a trial of it: six models, each with another activation; the same as published; a program of the image
    sweep; an ablation."""
    monkeypatch.setitem(GPT2_SCALES, "quick", replace(GPT2_SCALES["quick"], block_size=8))
    toy = toy.replace(trials=1, noise_floor=False, average=[0.5, 0.9])
    cells = zip(MODELS.built_in, ("relu", "gelu", "swiglu", "smelu_1", "swish", "smelu_05"), strict=True)
    params = {f"{model} {activation}": toy.replace(model=model, activation=activation) for model, activation in cells}
    params["as published"] = toy.replace(
        plugins="actlab_audit.defects", protocol="as_published", model="convlm", activation="swiglu"
    )
    small = {"optimizer": ("soap",), "iterations": 2, "evaluate_every": 1, "batch_size": 2, "validation_windows": 4}
    params["ablation"] = TokenStudy(**small)
    params["images"] = ImageStudy(trials=1, batch_size=(64,))
    return {name: tasks_of(one.arms())[0] for name, one in params.items()}


def stepped(optimizer, loss):
    """The loss of one step."""

    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    return optimizer.step(closure)


def outcome(trial):
    """Everything that a trial computed, so that ``==`` compares bit for bit, NaN included. Times are left out."""
    return trial.status, json.dumps(trial.progress.history), trial.weights_sha256
