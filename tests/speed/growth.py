"""How the cost of charlm grows: CPU time of an iteration with width, depth and context, and of an arm's comparisons with its trials."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import torch

from actlab.bench import account, timing
from actlab.bench.language import step_of
from actlab.data.text import Corpus, load_text
from actlab.models import SCALES, ModelConfig, build_model
from actlab.statistics.intervals import mean_interval
from actlab.study import process
from actlab.study.run import compare
from actlab.training.streams import generator, init_streams
from actlab.wording import with_interval

BATCH = 8
LEVELS: dict[str, tuple[int, ...]] = {"width": (64, 128, 256, 512), "depth": (1, 2, 4, 8), "context": (32, 64, 128, 256, 512)}
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
    """Factor -> level -> CPU ``seconds`` by round, and the arithmetic of an iteration (``gflop``). Other sizes are those of the scale."""
    process.prepare()
    corpus = load_text(dataset)
    works: dict[tuple[str, int], Callable[[], object]] = {}
    for factor, values in (levels or LEVELS).items():
        for value in values:
            config = replace(SCALES[scale], vocab_size=corpus.vocab_size, **{FIELDS[factor]: value})
            works[factor, value] = _iteration(config, corpus)
    gflop = {key: account.operations(work) / 1e9 for key, work in works.items()}
    predictions = [torch.softmax(torch.randn(positions, corpus.vocab_size, generator=generator(i, "predictions")), 1) for i in range(max(TRIALS))]
    works |= {("trials", n): partial(_every_pair, predictions[:n]) for n in TRIALS}
    with timing.one_thread():
        samples = timing.alternate({f"{factor}={value}": work for (factor, value), work in works.items()}, rounds, repeats, time.process_time)
    found: dict[str, dict[str, Any]] = {}
    for factor, value in works:
        found.setdefault(factor, {})[str(value)] = {"seconds": samples[f"{factor}={value}"], "gflop": gflop.get((factor, value))}
    return {"scale": scale, "batch": BATCH, "positions": positions, "factors": found}


def _iteration(config: ModelConfig, corpus: Corpus) -> Callable[[], object]:
    return step_of(build_model("charlm", config, "gelu", generator_for=init_streams(0)), corpus, config.block_size, BATCH)


def _every_pair(predictions: list[torch.Tensor]) -> None:
    targets = torch.zeros(len(predictions[0]), dtype=torch.int64)
    for p, q in combinations(predictions, 2):
        compare(p, q, targets)


def slopes(levels: dict[str, Any]) -> list[float]:
    """Exponent b of seconds = a level^b in each round: the least-squares slope of logarithms."""
    x = np.log([float(level) for level in levels])
    seconds = np.log([row["seconds"] for row in levels.values()])  # (levels, rounds)
    return [float(np.polyfit(x, column, 1)[0]) for column in seconds.T]


def table(measured: dict[str, Any]) -> pd.DataFrame:
    """One row a factor: milliseconds at every level, the fitted exponent with a 95% interval over the rounds, and that of the arithmetic.

    The levels of comparing trials are their numbers of pairs.
    """
    rows = {}
    for factor, found in measured["factors"].items():
        levels = _by_pairs(found) if factor == "trials" else found
        gflop = [row["gflop"] for row in levels.values()]
        x = np.log([float(level) for level in levels])
        rows[factor if factor != "trials" else "pairs of trials, compared"] = {
            "levels": ", ".join(levels),
            "CPU ms": ", ".join(f"{1e3 * np.median(row['seconds']):.0f}" for row in levels.values()),
            "exponent": with_interval(mean_interval(slopes(levels)), 2),
            "of its arithmetic": f"{np.polyfit(x, np.log(gflop), 1)[0]:.2f}" if None not in gflop else "not counted",
            "rounds": str(len(next(iter(levels.values()))["seconds"])),
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def _by_pairs(trials: dict[str, Any]) -> dict[str, Any]:
    """Number of pairs n (n - 1) / 2 -> what comparing n trials took."""
    return {str(math.comb(int(n), 2)): row for n, row in trials.items()}


def sentences(measured: dict[str, Any]) -> list[str]:
    """What comparing one pair takes."""
    pairs = _by_pairs(measured["factors"].get("trials", {}))
    if not pairs:
        return []
    each = [1e3 * float(np.median(row["seconds"])) / int(count) for count, row in pairs.items()]
    return [
        f"Comparing a pair of trials on {measured['positions']:,} positions takes {min(each):.0f} to {max(each):.0f} ms "
        f"where {', '.join(pairs)} pairs are compared; an arm of n trials has n (n - 1) / 2"
    ]
