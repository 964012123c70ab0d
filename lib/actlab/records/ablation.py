"""The optimizer x symmetry x activation ablation as read from records: every trial a row, the published losses, effects
of bQ+bV with intervals over seeds. An effect is a loss with bQ+bV minus the loss without it: below 0 it helps."""

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
from actlab.statistics.best_of_k import without_replacement
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval

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
"""A factor's level -> its name for people, in the study's own order of tables and figures."""
ORDER = list(WORDS)
LOSS = "val_loss"
LOSS_LABEL = "validation loss (nats per token)"
MEASURED = (LOSS, "val_standard_error", "val_accuracy", "tokens")
ARM = ("optimizer", "symmetry", "activation")
SETTING = ("dataset", "vocab_size", "scale", "batch_size", "context", "iterations")
"""What every arm of one reading shares."""
ACTIVATIONS = ("gelu", "random_prelu")
CELLS = [(o, s, a) for o in PUBLISHED for s in (BASE, BROKEN) for a in ACTIVATIONS]
"""Of the published factorial."""
Cell = tuple[str, str, str]
"""Optimizer, symmetry, activation."""


def words(name: str) -> str:
    """A factor's level for people."""
    return WORDS.get(name, name)


@dataclass(frozen=True)
class Factorial:
    """Every trial as a row of ``trials`` (factors, settings, seed, status, what it measured), and the records behind
    them, one an arm."""

    trials: pd.DataFrame
    records: tuple[Record, ...]

    def levels(self, factor: str) -> list[Any]:
        """The values of a factor that are recorded, in the study's order (numbers rising)."""
        found = self.trials[factor].unique().tolist()
        return sorted(found, key=lambda v: (_place(v), v if isinstance(v, int | float) else str(v)))

    def values(self, *cell: str, metric: str = LOSS) -> Values:
        """(seeds,) a metric of (optimizer, symmetry, activation) in the order of the reading's seeds; NaN for a trial
        that diverged or is not recorded."""
        rows = self.trials
        for factor, level in zip(ARM, cell, strict=True):
            rows = rows[rows[factor] == level]
        return rows.set_index("seed")[metric].reindex(self.levels("seed")).to_numpy(float)

    def record(self, *cell: str) -> Record | None:
        """One arm's record; ``None`` where there is none."""
        return next((r for r in self.records if tuple(r[factor] for factor in ARM) == cell), None)

    @property
    def cells(self) -> list[Cell]:
        """Every arm that is recorded, in the study's order."""
        found = {(r["optimizer"], r["symmetry"], r["activation"]) for r in self.records}
        return sorted(found, key=lambda cell: [(_place(level), level) for level in cell])

    @property
    def missing(self) -> list[Cell]:
        """Cells of the published factorial without a record."""
        return [cell for cell in CELLS if cell not in self.cells]


def _place(level: object) -> int:
    return ORDER.index(level) if level in ORDER else len(ORDER)


def read(records: Iterable[Record]) -> Factorial:
    """A factorial from the records of its arms; an empty one from none. Where an optimizer ran at several rates, its
    arms are those of the rate that most of them have, of two such rates that nearest to the published one.

    Raises:
        BadInput: the records differ in data, model size, batch or length, so that their losses cannot be compared.
        RecordError: a record of another shape.
    """
    chosen = [record for record in records if record.get("kind") == "ablation"]
    for record in chosen:
        schema.check_record(record)
    at: dict[str, list[float]] = {}
    for record in chosen:
        at.setdefault(record["optimizer"], []).append(record["rate_factor"])
    rate = {o: max(factors, key=lambda x, f=factors: (f.count(x), -abs(math.log(x)))) for o, factors in at.items()}  # type: ignore[misc]
    chosen = [record for record in chosen if record["rate_factor"] == rate[record["optimizer"]]]
    columns = [*ARM, *SETTING, "rate_factor", "n_parameters", "seed", "status", *MEASURED]
    trials = pd.DataFrame([row for record in chosen for row in _rows(record)], columns=columns)
    settings = trials[list(SETTING)].drop_duplicates()
    if len(settings) > 1:
        said = "; ".join(", ".join(f"{k}={v}" for k, v in row.items()) for row in settings.to_dict("records"))
        raise BadInput(f"records of different settings cannot be read together: {said}")
    return Factorial(trials, tuple(chosen))


def _rows(record: Record) -> Iterator[dict[str, object]]:
    config = record["config"]
    shared = {factor: record[factor] for factor in (*ARM, "rate_factor", "n_parameters")}
    shared |= {name: config[name] for name in ("dataset", "scale", "batch_size")}
    shared |= {"context": config["model_size"]["block_size"], "iterations": config["recipe"]["iterations"]}
    shared["vocab_size"] = record["provenance"]["data"]["vocab_size"]
    for trial in record["trials"]:
        final = trial["final"] if trial["status"] == "done" else dict.fromkeys(MEASURED, math.nan) | {"tokens": 0}
        yield shared | {name: final[name] for name in MEASURED} | {"seed": trial["seed"], "status": trial["status"]}


def effect(f: Factorial, optimizer: str, activation: str) -> Values:
    """(seeds,) loss with bQ+bV minus that without (nats), seed by seed: the arms share start and batches."""
    return f.values(optimizer, BROKEN, activation) - f.values(optimizer, BASE, activation)


def effects(f: Factorial) -> dict[tuple[str, str], Estimate]:
    """(optimizer, activation) -> effect of bQ+bV (nats)."""
    return {(o, a): mean_interval(effect(f, o, a)) for o in f.levels("optimizer") for a in f.levels("activation")}


def symmetry(f: Factorial) -> Estimate:
    """The effect of bQ+bV averaged over optimizers and activations; a seed that misses a cell has no average."""
    return _average(effect(f, o, a) for o in f.levels("optimizer") for a in f.levels("activation"))


def interaction(f: Factorial) -> Estimate:
    """The effect of bQ+bV under random PReLU minus that under GELU, averaged over optimizers: below 0 is in favour of
    PReLU."""
    return _average(effect(f, o, "random_prelu") - effect(f, o, "gelu") for o in f.levels("optimizer"))


def _average(values: Iterable[Values]) -> Estimate:
    found = list(values)
    return mean_interval(np.mean(found, axis=0) if found else [])


def rates(records: Iterable[Record]) -> dict[str, dict[float, Estimate]]:
    """Optimizer -> multiple of its published learning rate -> loss, over all seeds that were run at it."""
    found: dict[str, dict[float, list[float]]] = {}
    for record in records:
        by_rate = found.setdefault(record["optimizer"], {}).setdefault(record["rate_factor"], [])
        by_rate += [t["final"][LOSS] if t["status"] == "done" else math.nan for t in record["trials"]]
    return {
        o: {rate: mean_interval(values) for rate, values in sorted(found[o].items())} for o in sorted(found, key=_place)
    }


@dataclass(frozen=True)
class Batches:
    """What the published way to validate, the lowest of many evaluations of one batch each, makes of trained runs."""

    trials: int
    count: int
    """Batches of each."""
    evaluations: int
    """Of which the lowest is reported: the published number, or as many as there are."""
    spread: float
    """Standard deviation from batch to batch (nats), mean over the trials."""
    optimism: float
    """How far the expected lowest lies below the mean over all batches (nats), mean over the trials: the model does not
    change from draw to draw, so this part has nothing to do with training."""


def batches(f: Factorial) -> Batches | None:
    """Of all recorded trials; ``None`` where no trial measured two batches."""
    done = [trial for record in f.records for trial in record["trials"] if trial["status"] == "done"]
    losses = [found for trial in done if len(found := trial["analyses"]["batch_losses"]) > 1]
    if not losses:
        return None
    table = np.sort(np.array(losses), axis=1)[:, ::-1]  # the lowest last
    count = table.shape[1]
    k = min(PUBLISHED_EVALUATIONS, count)
    lowest = table @ without_replacement(count, k)
    spread, optimism = table.std(axis=1, ddof=1).mean(), (table.mean(axis=1) - lowest).mean()
    return Batches(len(table), count, k, float(spread), float(optimism))
