"""How fast the language models train, against the plain reference loop, in one run: what `notebooks/performance.ipynb` shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import pandas as pd
import torch
from torch.nn import functional as F

from actlab.bench import account, timing, ways
from actlab.bench.ways import RECIPE
from actlab.data.text import Corpus, load_text
from actlab.models import MODELS, SCALES, build_model
from actlab.training.loop import Recipe, evaluate
from actlab.training.streams import init_streams
from actlab.training.windows import cover

Timing = dict[str, Any]


def matmul_rate(size: int = 1024, repeats: int = 20) -> float:
    """GFLOP/s of this process's threads on a float32 matrix product: the physical limit of training."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    return 2e-9 * size**3 / min(timing.seconds(lambda: a @ b) for _ in range(repeats))


def measure(name: str, corpus: Corpus, dataset: str, scale: str = "lite", activation: str = "gelu", rounds: int = 5, steps: int = 4) -> Timing:
    """CPU seconds of an iteration and of an evaluation, ours and the reference's, each in a process of its own on one thread, in alternating rounds.

    The reference's evaluation (200 random batches of each split) is measured on 4 batches and multiplied; the rest is measured whole.
    ``trial_seconds`` adds the recipe's iterations and evaluations.
    """
    found = ways.measure(ways.Setting(name, dataset, scale, activation, steps), ("ours", "reference"), rounds)
    times = {part: {who: median(way[part]) for who, way in found.items()} for part in ("training", "evaluation")}
    config = replace(SCALES[scale], vocab_size=corpus.vocab_size)
    model = build_model(name, config, activation, generator_for=init_streams(0))
    step, validation = step_of(model, corpus, config.block_size), cover(corpus.validation, config.block_size)
    arithmetic = {
        "training_gflop": account.operations(step) / 1e9,
        "evaluation_gflop": account.operations(lambda: evaluate(model, validation, RECIPE)) / 1e9,
    }
    spent = {"account": {**arithmetic, "shares": account.profiled(step)}, "peak_mb": {who: way["peak_mb"] for who, way in found.items()}}
    return {"model": name, "scale": scale, "activation": activation, **times, **_trial(times, RECIPE), **spent}


def _trial(times: dict[str, dict[str, float]], recipe: Recipe) -> dict[str, Any]:
    evaluations = recipe.iterations // recipe.evaluate_every + 1
    total = {who: recipe.iterations * times["training"][who] + evaluations * times["evaluation"][who] for who in ("ours", "reference")}
    return {"iterations": recipe.iterations, "evaluations": evaluations, "trial_seconds": total, "ratio": total["reference"] / total["ours"]}


def step_of(model: torch.nn.Module, corpus: Corpus, block_size: int, batch_size: int = RECIPE.batch_size) -> Callable[[], None]:
    """The body of ``training.loop.train`` for one batch."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=RECIPE.learning_rate, weight_decay=RECIPE.weight_decay, fused=True)
    starts = torch.randint(len(corpus.train) - block_size, (batch_size,))
    span = torch.arange(block_size + 1)

    def step() -> None:
        windows = corpus.train[starts[:, None] + span].long()
        loss = F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def measure_all(dataset: str = "shakespeare", scale: str = "lite", names: Sequence[str] = tuple(MODELS), **settings: Any) -> dict[str, Any]:
    """Every named model at the published lite recipe on one thread, and the machine's matrix rate beside them."""
    corpus = load_text(dataset)
    with timing.one_thread():
        return {"matmul_gflops": matmul_rate(), "models": [measure(name, corpus, dataset, scale, **settings) for name in names]}


def table(measured: dict[str, Any]) -> pd.DataFrame:
    """One row a model: how many times faster than the reference a trial is; of an iteration, an evaluation, a trial both times; our memory."""
    rows = {}
    for row in measured["models"]:
        training, evaluation, trial = row["training"], row["evaluation"], row["trial_seconds"]
        rows[row["model"]] = {
            "times faster": f"{row['ratio']:.1f}",
            "ours, ms an iteration": f"{1000 * training['ours']:.0f}",
            "reference, ms": f"{1000 * training['reference']:.0f}",
            "ours, s an evaluation": f"{evaluation['ours']:.2f}",
            "reference, s": f"{evaluation['reference']:.1f}",
            "ours, s a trial": f"{trial['ours']:.0f}",
            "reference, s a trial": f"{trial['reference']:.0f}",
            "our peak memory, MB": f"{row['peak_mb']['ours']:.0f}" if "peak_mb" in row else "not in this record",
        }
    return pd.DataFrame.from_dict(rows, orient="index")
