"""How the cost of charlm grows: CPU time of an iteration with width, depth and context, and of an arm's comparisons
with its trials."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import torch
from tests.speed import account, timing
from tests.speed.reference import random_batch
from torch.nn import functional as F

from actlab.data.text import Corpus, load_text
from actlab.models import SCALES, ModelConfig, build_model
from actlab.optimizers.steps import step
from actlab.study.measure import compare
from actlab.trainers import process
from actlab.trainers.streams import generator, init_streams

BATCH = 8
LEVELS: dict[str, tuple[int, ...]] = {
    "width": (64, 128, 256, 512),
    "depth": (1, 2, 4, 8),
    "context": (32, 64, 128, 256, 512),
}
FIELDS = {"width": "n_embd", "depth": "n_layer", "context": "block_size"}
TRIALS = (2, 4, 8)
"""Trials of an arm whose every pair is compared."""
POSITIONS = 8192


def measure_all(
    dataset: str = "shakespeare",
    scale: str = "lite",
    rounds: int = 4,
    repeats: int = 1,
    levels: dict[str, tuple[int, ...]] | None = None,
    positions: int = POSITIONS,
) -> dict[str, Any]:
    """Factor -> level -> CPU ``seconds`` by round, and the arithmetic of an iteration (``gflop``). Other sizes are
    those of the scale."""
    process.prepare()
    corpus = load_text(dataset)
    works: dict[tuple[str, int], Callable[[], object]] = {}
    for factor, values in (levels or LEVELS).items():
        for value in values:
            config = replace(SCALES[scale], vocab_size=corpus.vocab_size, **{FIELDS[factor]: value})
            works[factor, value] = _iteration(config, corpus)
    gflop = {key: account.operations(work) / 1e9 for key, work in works.items()}
    predictions = [
        torch.softmax(torch.randn(positions, corpus.vocab_size, generator=generator(i, "predictions")), 1)
        for i in range(max(TRIALS))
    ]
    works |= {("trials", n): partial(_every_pair, predictions[:n]) for n in TRIALS}
    with timing.one_thread():
        samples = timing.alternate(
            {f"{factor}={value}": work for (factor, value), work in works.items()}, rounds, repeats, time.process_time
        )
    found: dict[str, dict[str, Any]] = {}
    for factor, value in works:
        found.setdefault(factor, {})[str(value)] = {
            "seconds": samples[f"{factor}={value}"],
            "gflop": gflop.get((factor, value)),
        }
    return {"scale": scale, "batch": BATCH, "positions": positions, "factors": found}


def _iteration(config: ModelConfig, corpus: Corpus) -> Callable[[], None]:
    """One step on one batch."""
    model = build_model("charlm", config, "gelu", generator_for=init_streams(0))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    x, y = random_batch(corpus.train, config.block_size, BATCH)

    def work() -> None:
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        step(optimizer)

    return work


def _every_pair(predictions: list[torch.Tensor]) -> None:
    targets = torch.zeros(len(predictions[0]), dtype=torch.int64)
    for p, q in combinations(predictions, 2):
        compare(p, q, targets)
