"""How fast the language models train, against the plain reference loop, in one run: what `notebooks/performance.ipynb` shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

import pandas as pd
import torch
from torch.nn import functional as F

from actlab.bench import account, reference
from actlab.data.text import Corpus, load_text
from actlab.models import MODELS, SCALES, build_model
from actlab.training.loop import Recipe, evaluate
from actlab.training.streams import init_streams
from actlab.training.windows import cover

Timing = dict[str, Any]
Two = dict[str, Callable[[], object]]


def matmul_rate(size: int = 1024, repeats: int = 20) -> float:
    """GFLOP/s of this process's threads on a float32 matrix product: the physical limit of training."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    return 2e-9 * size**3 / min(_seconds(lambda: a @ b, 1) for _ in range(repeats))


def _seconds(work: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        work()
    return (time.perf_counter() - start) / repeats


def measure(name: str, corpus: Corpus, recipe: Recipe, scale: str = "lite", activation: str = "gelu", rounds: int = 5, steps: int = 4) -> Timing:
    """Milliseconds an iteration and seconds an evaluation, ours and the reference's, in alternating rounds on one thread.

    The reference's evaluation (200 random batches of each split) is measured on 4 batches and multiplied; the rest is measured whole.
    ``trial_seconds`` adds the recipe's iterations and evaluations.
    """
    config = replace(SCALES[scale], vocab_size=corpus.vocab_size)
    model = build_model(name, config, activation, generator_for=init_streams(0))
    plain = reference.naive(model)
    ours, theirs = _our_step(model, corpus, recipe, config.block_size), _reference_step(plain, corpus, recipe, config.block_size)
    validation = cover(corpus.validation, config.block_size)
    texts, sizes = (corpus.train, corpus.validation), (config.block_size, recipe.batch_size)
    evaluations: Two = {
        "ours": lambda: evaluate(model, validation, recipe),
        "reference": lambda: reference.evaluate(plain, texts, *sizes, batches=2),
    }
    times = {"training": _alternate({"ours": ours, "reference": theirs}, rounds, steps), "evaluation": _alternate(evaluations, rounds, 1)}
    times["evaluation"]["reference"] *= reference.EVALUATION_BATCHES / 2
    arithmetic = {"training_gflop": 1e-9 * account.operations(ours), "evaluation_gflop": 1e-9 * account.operations(evaluations["ours"])}
    spent = {"account": {**arithmetic, "shares": account.profiled(ours)}}
    return {"model": name, "scale": scale, "activation": activation, **times, **_trial(times, recipe), **spent}


def _alternate(two: Two, rounds: int, steps: int) -> dict[str, float]:
    """Median seconds of each, taken in turn so that a slow spell of the machine meets both."""
    for work in two.values():
        work()
    samples: dict[str, list[float]] = {who: [] for who in two}
    for _ in range(rounds):
        for who, work in two.items():
            samples[who].append(_seconds(work, steps))
    return {who: median(values) for who, values in samples.items()}


def _trial(times: dict[str, dict[str, float]], recipe: Recipe) -> dict[str, Any]:
    evaluations = recipe.iterations // recipe.evaluate_every + 1
    total = {who: recipe.iterations * times["training"][who] + evaluations * times["evaluation"][who] for who in ("ours", "reference")}
    return {"iterations": recipe.iterations, "evaluations": evaluations, "trial_seconds": total, "ratio": total["reference"] / total["ours"]}


def _our_step(model: torch.nn.Module, corpus: Corpus, recipe: Recipe, block_size: int) -> Callable[[], None]:
    """The body of ``training.loop.train`` for one batch."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True)
    starts = torch.randint(len(corpus.train) - block_size, (recipe.batch_size,))
    span = torch.arange(block_size + 1)

    def step() -> None:
        windows = corpus.train[starts[:, None] + span].long()
        loss = F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()

    return step


def _reference_step(model: torch.nn.Module, corpus: Corpus, recipe: Recipe, block_size: int) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay)

    def step() -> None:
        reference.training_step(model, optimizer, corpus.train, block_size, recipe.batch_size)

    return step


def measure_all(dataset: str = "shakespeare", scale: str = "lite", names: Sequence[str] = tuple(MODELS), **settings: Any) -> dict[str, Any]:
    """Every named model at the published lite recipe on one thread, and the machine's matrix rate beside them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    recipe = Recipe(iterations=500, evaluate_every=50, batch_size=32)
    corpus = load_text(dataset)
    try:
        return {"matmul_gflops": matmul_rate(), "models": [measure(name, corpus, recipe, scale, **settings) for name in names]}
    finally:
        torch.set_num_threads(threads)


def table(measured: dict[str, Any]) -> pd.DataFrame:
    """One row a model: milliseconds an iteration, seconds an evaluation, seconds a trial, ours and the reference's, and the ratio."""
    rows = {}
    for row in measured["models"]:
        training, evaluation, trial = row["training"], row["evaluation"], row["trial_seconds"]
        rows[row["model"]] = {
            "training, ms an iteration": f"{1000 * training['ours']:.0f}",
            "reference": f"{1000 * training['reference']:.0f}",
            "evaluation, s": f"{evaluation['ours']:.2f}",
            "reference ": f"{evaluation['reference']:.1f}",
            "trial, s": f"{trial['ours']:.0f}",
            "reference  ": f"{trial['reference']:.0f}",
            "times faster": f"{row['ratio']:.1f}",
        }
    return pd.DataFrame.from_dict(rows, orient="index")
