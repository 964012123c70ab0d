"""Sizes at which a test trains in milliseconds. Not a test."""

from __future__ import annotations

import json

import torch
from torch import Tensor, nn

from actlab.models import LanguageModel, ModelConfig, build_model
from actlab.trainers.loop import Trial, train
from actlab.trainers.recipes import Recipe
from actlab.trainers.streams import init_streams
from actlab.trainers.windows import cover, spread

CONFIG = ModelConfig(vocab_size=11, n_layer=2, n_embd=12, n_head=2, block_size=8, dropout=0.2)
RECIPE = Recipe(iterations=9, evaluate_every=3, batch_size=4)


def model(
    name: str = "charlm",
    activation: str = "gelu",
    seed: int = 42,
    config: ModelConfig = CONFIG,
    gated_width: str = "matched",
) -> LanguageModel:
    """A freshly initialised tiny model."""
    return build_model(name, config, activation, gated_width=gated_width, generator_for=init_streams(seed))


def text(length: int = 400, seed: int = 0) -> Tensor:
    """Random character numbers."""
    return torch.randint(CONFIG.vocab_size, (length,), generator=torch.Generator().manual_seed(seed), dtype=torch.uint8)


def tokens(batch: int = 2, time: int = CONFIG.block_size, vocab_size: int = CONFIG.vocab_size) -> Tensor:
    """Random model inputs (B, T)."""
    return torch.randint(vocab_size, (batch, time), generator=torch.Generator().manual_seed(1))


def enlarge(module: nn.Module, factor: float = 20.0) -> nn.Module:
    """Matrices times ``factor``: far from the near-linear start, so that functions that agree near 0 come apart."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.mul_(factor)
    return module


def run(net: nn.Module, recipe: Recipe = RECIPE, seed: int = 42, **more: object) -> Trial:
    """Train on the tiny text; predictions on four windows."""
    validation = text(70, seed=1)
    return train(
        net,
        text(),
        cover(validation, CONFIG.block_size),
        spread(validation, CONFIG.block_size, 4),
        recipe,
        seed,
        **more,
    )


def outcome(trial: Trial) -> tuple[str, str, str, bytes]:
    """Everything that a trial computed, so that ``==`` compares bit for bit, NaN included. Times are left out."""
    return trial.status, json.dumps(trial.progress.history), trial.weights_sha256, trial.probabilities.numpy().tobytes()
