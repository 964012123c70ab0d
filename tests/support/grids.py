"""Records of a made-up grid, for tests of what reads records. Not a test."""

from __future__ import annotations

import numpy as np

from actlab.records.labels import PAIR_METRICS
from actlab.records.repro import Grid, read
from actlab.records.store import Record


def record(
    model: str = "charlm",
    activation: str = "relu",
    losses: tuple[float, ...] = (2.0, 2.1, 2.2),
    pd: float = 0.1,
    status: dict[int, str] | None = None,
) -> Record:
    """A main record: seeds 42, 43, ...; trial i has ``losses[i]``; pair (i, j) has PD ``pd`` + 0.01 (i + j)."""
    ended = {i: (status or {}).get(i, "done") for i in range(len(losses))}
    trials = [
        {
            "label": str(42 + i),
            "seed": 42 + i,
            "variant": "",
            "n_parameters": 1000,
            "status": ended[i],
            "final": {"iteration": 10, "train_loss": loss, "val_loss": loss, "val_accuracy": 50 - loss},
            "best": {"iteration": 5, "train_loss": loss, "val_loss": loss - 0.05, "val_accuracy": 50 - loss},
            "history": [
                {"iteration": step, "train_loss": loss, "val_loss": loss, "val_accuracy": 50.0} for step in (0, 5, 10)
            ],
        }
        for i, loss in enumerate(losses)
    ]
    pairs = [
        {"between": [str(42 + i), str(42 + j)], **dict.fromkeys(PAIR_METRICS, pd + 0.01 * (i + j))}
        for i in range(len(losses))
        for j in range(i + 1, len(losses))
        if ended[i] == ended[j] == "done"
    ]
    return {
        "model_name": model,
        "activation": activation,
        "study": "made-up",
        "arm": f"{model}-{activation}",
        "kind": "trials",
        "trials": trials,
        "reproducibility_metrics": pairs,
        "config": {"recipe": {"device": "cpu"}, "trials": [t["label"] for t in trials]},
        "provenance": {
            "date": "2026-01-01T00:00:00+00:00",
            "git_commit": "0123456789abcdef",
            "git_dirty": False,
            "machine": {"processor": "a processor", "gpu": None, "torch": "2.13.0"},
            "data": {"name": "pydoc", "sha256": "f" * 64, "prediction_positions": 100},
        },
    }


def floor(model: str = "charlm", activation: str = "relu", nudge: float = 1e-6) -> Record:
    """A noise-floor record: the repeat is exact, the nudge moves every metric by ``nudge``."""
    main = record(model, activation)
    pairs = [
        {"between": ["42", "42-repeat"], **dict.fromkeys(PAIR_METRICS, 0.0)},
        {"between": ["42", "42-nudge"], **dict.fromkeys(PAIR_METRICS, nudge)},
    ]
    return main | {"kind": "floor", "reproducibility_metrics": pairs}


def baseline() -> Record:
    """Character tables at 3.3 and 2.05 nats."""
    return {
        "kind": "baseline",
        "study": "made-up",
        "unigram": {"val_loss": 3.3, "val_accuracy": 15.0},
        "bigram": {"val_loss": 2.05, "val_accuracy": 27.0},
    }


def grid(seed: int = 0) -> Grid:
    """Two models x three activations, one arm missing, one trial diverged, floors for one arm."""
    noise = np.random.default_rng(seed).normal(0, 0.01, (2, 3, 4))
    cells = [
        (m, a) for m in ("charlm", "tinylstm") for a in ("relu", "gelu", "swiglu") if (m, a) != ("tinylstm", "swiglu")
    ]
    records = [
        record(m, a, tuple(2.0 + i * 0.1 + noise[i % 2, i % 3]), 0.1 + 0.02 * i, {3: "diverged"} if i == 4 else None)
        for i, (m, a) in enumerate(cells)
    ]
    return read([*records, floor(), baseline()], ["charlm", "tinylstm"], ["relu", "gelu", "swiglu"])
