"""The ablation as read from records: every trial a row, the published table beside it. Computes no statistics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from actlab.errors import BadInput
from actlab.records import schema
from actlab.records.store import Record

Values = NDArray[np.float64]

PUBLISHED: dict[str, tuple[float, float]] = {
    "ecd": (3.7992, 3.60),
    "adamw": (3.5412, 3.53),
    "sgdm": (3.6534, 3.66),
    "soap": (3.3673, 3.51),
}
"""Optimizer -> published validation loss (nats a token) with PReLU, (symmetric, bQ+bV); the latter are quoted with two
digits and a tilde."""
PUBLISHED_EVALUATIONS = 122
"""Evaluations of a published run: one 4,096-token batch each, of which the lowest was reported."""
BASE, BROKEN = "symmetric", "bQbV"
ORDER = ("ecd", "adamw", "sgdm", "soap", "symmetric", "bQ", "bQbV", "bQbKbV", "gelu", "random_prelu")
"""The study's own order, in tables and figures."""
WORDS = {
    "ecd": "ECD",
    "adamw": "AdamW",
    "sgdm": "SGDM",
    "soap": "SOAP",
    "symmetric": "symmetric",
    "bQ": "bQ",
    "bQbV": "bQ+bV",
    "bQbKbV": "bQ+bK+bV",
    "gelu": "GELU",
    "random_prelu": "random PReLU",
}
LOSS = "val_loss"
LOSS_LABEL = "validation loss (nats per token)"
ARM = ("optimizer", "symmetry", "activation", "rate_factor")
SETTING = ("dataset", "vocab_size", "scale", "batch_size", "context", "iterations")
"""What every arm of one reading shares."""
COLUMNS = (
    *ARM,
    "seed",
    "status",
    LOSS,
    "val_standard_error",
    "val_accuracy",
    "n_parameters",
    "tokens",
    "tokens_per_second",
    *SETTING,
)


def words(name: str) -> str:
    """A factor's level for people."""
    return WORDS.get(name, name)


def times(factor: float) -> str:
    """A multiple of a learning rate: ``3``, or ``1/3`` where the file of parameters has 0.333."""
    return "1/3" if abs(factor - 1 / 3) < 1e-3 else f"{factor:g}"


@dataclass(frozen=True)
class Factorial:
    """Every trial as a row of ``trials`` (columns ``COLUMNS``), and the records behind them."""

    trials: pd.DataFrame
    records: tuple[Record, ...]

    def levels(self, factor: str) -> list[Any]:
        """The values of a factor that are recorded, in the study's order (numbers rising)."""
        found = self.trials[factor].unique().tolist()
        return sorted(
            found,
            key=lambda v: (ORDER.index(v) if v in ORDER else len(ORDER), v if isinstance(v, int | float) else str(v)),
        )

    def values(
        self, optimizer: str, symmetry: str, activation: str, rate_factor: float = 1.0, metric: str = LOSS
    ) -> Values:
        """(seeds,) a metric in the order of the reading's seeds; NaN for a trial that diverged or is not recorded."""
        rows = self.trials
        for factor, level in zip(ARM, (optimizer, symmetry, activation, rate_factor), strict=True):
            rows = rows[rows[factor] == level]
        return rows.set_index("seed")[metric].reindex(self.levels("seed")).to_numpy(float)

    def record(self, optimizer: str, symmetry: str, activation: str, rate_factor: float = 1.0) -> Record | None:
        """One arm's record; ``None`` where there is none."""
        wanted = (optimizer, symmetry, activation, rate_factor)
        return next((r for r in self.records if tuple(r[factor] for factor in ARM) == wanted), None)

    def done(self, record: Record) -> list[dict[str, Any]]:
        """The trials of a record that ended well."""
        return [trial for trial in record["trials"] if trial["status"] == "done"]

    @property
    def missing(self) -> list[tuple[str, str, str]]:
        """Cells of the published factorial (optimizer, symmetry, activation) without a record at the published
        rates."""
        cells = [(o, s, a) for o in PUBLISHED for s in (BASE, BROKEN) for a in ("gelu", "random_prelu")]
        return [cell for cell in cells if self.record(*cell) is None]


def read(records: Iterable[Record]) -> Factorial:
    """A factorial from the records of its arms, of one or several studies of one setting; an empty one from none.

    Raises:
        BadInput: the records differ in data, model size, batch or length, so that their losses cannot be compared.
        RecordError: a record of another shape.
    """
    chosen = tuple(record for record in records if record.get("kind") == "ablation")
    rows = [row for record in chosen for row in _rows(record)]
    trials = pd.DataFrame(rows, columns=list(COLUMNS))
    settings = trials[list(SETTING)].drop_duplicates()
    if len(settings) > 1:
        said = "; ".join(", ".join(f"{k}={v}" for k, v in row.items()) for row in settings.to_dict("records"))
        raise BadInput(f"records of different settings cannot be read together: {said}")
    return Factorial(trials, chosen)


def _rows(record: Record) -> Iterator[dict[str, object]]:
    schema.check_record(record)
    config = record["config"]
    shared: dict[str, object] = {factor: record[factor] for factor in ARM}
    shared |= {
        "n_parameters": record["n_parameters"],
        "context": config["model_size"]["block_size"],
        "iterations": config["recipe"]["iterations"],
    }
    shared |= {name: config[name] for name in ("dataset", "scale", "batch_size")}
    shared["vocab_size"] = record["provenance"]["data"]["vocab_size"]
    for trial in record["trials"]:
        ended = trial["status"] == "done"
        final = {
            name: trial["final"][name] if ended else math.nan for name in (LOSS, "val_standard_error", "val_accuracy")
        }
        yield (
            shared
            | final
            | {
                "seed": trial["seed"],
                "status": trial["status"],
                "tokens": trial["final"]["tokens"] if ended else 0,
                "tokens_per_second": trial.get("tokens_per_second", math.nan),
            }
        )
