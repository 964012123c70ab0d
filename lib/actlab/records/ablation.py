"""The optimizer x symmetry x activation ablation as read from records: every trial a row, the published losses, effects
of the factors with intervals over seeds."""

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
from actlab.statistics.best_of_k import best_of_k_curve
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval, paired_difference

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
ARM = ("optimizer", "symmetry", "activation", "rate_factor")
SETTING = ("dataset", "vocab_size", "scale", "batch_size", "context", "iterations")
"""What every arm of one reading shares."""


def words(name: str) -> str:
    """A factor's level for people."""
    return WORDS.get(name, name)


def times(factor: float) -> str:
    """A multiple of a learning rate: ``3``, or ``1/3`` where the file of parameters has 0.333."""
    return "1/3" if abs(factor - 1 / 3) < 1e-3 else f"{factor:g}"


@dataclass(frozen=True)
class Factorial:
    """Every trial as a row of ``trials`` (factors, settings, seed, status, what it measured), and the records behind
    them."""

    trials: pd.DataFrame
    records: tuple[Record, ...]

    def levels(self, factor: str) -> list[Any]:
        """The values of a factor that are recorded, in the study's order (numbers rising)."""
        found = self.trials[factor].unique().tolist()
        return sorted(found, key=lambda v: (_place(v), v if isinstance(v, int | float) else str(v)))

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

    def done(self, optimizer: str, symmetry: str, activation: str) -> list[dict[str, Any]]:
        """The trials of an arm at the published rate that ended well."""
        record = self.record(optimizer, symmetry, activation)
        return [trial for trial in record["trials"] if trial["status"] == "done"] if record else []

    @property
    def cells(self) -> list[tuple[str, str, str]]:
        """(optimizer, symmetry, activation) of every arm that is recorded at the published rate, in the study's
        order."""
        found = {(r["optimizer"], r["symmetry"], r["activation"]) for r in self.records if r["rate_factor"] == 1.0}
        return sorted(found, key=lambda cell: [(_place(level), level) for level in cell])

    @property
    def missing(self) -> list[tuple[str, str, str]]:
        """Cells of the published factorial (optimizer, symmetry, activation) without a record at the published
        rates."""
        wanted = [(o, s, a) for o in PUBLISHED for s in (BASE, BROKEN) for a in ("gelu", "random_prelu")]
        return [cell for cell in wanted if self.record(*cell) is None]


def _place(level: object) -> int:
    return ORDER.index(level) if level in ORDER else len(ORDER)


def read(records: Iterable[Record]) -> Factorial:
    """A factorial from the records of its arms, of one or several studies of one setting; an empty one from none.

    Raises:
        BadInput: the records differ in data, model size, batch or length, so that their losses cannot be compared.
        RecordError: a record of another shape.
    """
    chosen = tuple(record for record in records if record.get("kind") == "ablation")
    columns = [*ARM, *SETTING, "n_parameters", "seed", "status", *MEASURED]
    trials = pd.DataFrame([row for record in chosen for row in _rows(record)], columns=columns)
    settings = trials[list(SETTING)].drop_duplicates()
    if len(settings) > 1:
        said = "; ".join(", ".join(f"{k}={v}" for k, v in row.items()) for row in settings.to_dict("records"))
        raise BadInput(f"records of different settings cannot be read together: {said}")
    return Factorial(trials, chosen)


def _rows(record: Record) -> Iterator[dict[str, object]]:
    schema.check_record(record)
    config = record["config"]
    shared = {factor: record[factor] for factor in (*ARM, "n_parameters")}
    shared |= {name: config[name] for name in ("dataset", "scale", "batch_size")}
    shared |= {"context": config["model_size"]["block_size"], "iterations": config["recipe"]["iterations"]}
    shared["vocab_size"] = record["provenance"]["data"]["vocab_size"]
    for trial in record["trials"]:
        final = trial["final"] if trial["status"] == "done" else dict.fromkeys(MEASURED, math.nan) | {"tokens": 0}
        yield shared | {name: final[name] for name in MEASURED} | {"seed": trial["seed"], "status": trial["status"]}


def arms(f: Factorial) -> dict[tuple[str, str, str], Estimate]:
    """(optimizer, symmetry, activation) -> mean loss at the published rate, with a t interval over seeds."""
    return {cell: mean_interval(f.values(*cell)) for cell in f.cells}


def _gain(f: Factorial, optimizer: str, activation: str) -> Values:
    """(seeds,) symmetric minus bQ+bV loss (nats), seed by seed: the arms share start and batches."""
    return f.values(optimizer, BASE, activation) - f.values(optimizer, BROKEN, activation)


def gains(f: Factorial) -> dict[tuple[str, str], Estimate]:
    """(optimizer, activation) -> symmetric minus bQ+bV loss (nats), paired by seed. Positive: bQ+bV helps."""
    return {(o, a): mean_interval(_gain(f, o, a)) for o in f.levels("optimizer") for a in f.levels("activation")}


def interactions(f: Factorial) -> dict[str, Estimate]:
    """Optimizer -> gain of bQ+bV under random PReLU minus that under GELU (nats), paired by seed; ``all``: of the
    optimizers' average."""
    by_optimizer = {o: _gain(f, o, "random_prelu") - _gain(f, o, "gelu") for o in f.levels("optimizer")}
    found = {o: mean_interval(values) for o, values in by_optimizer.items()}
    return found | ({"all": mean_interval(np.mean(list(by_optimizer.values()), axis=0))} if by_optimizer else {})


def main_effects(f: Factorial) -> dict[str, Estimate]:
    """Averages over the other factors, seed by seed (nats): ``symmetry`` the gain of bQ+bV, ``activation`` GELU's loss
    minus random PReLU's.

    A seed that misses a cell has no average.
    """
    optimizers, activations = f.levels("optimizer"), f.levels("activation")
    if not optimizers:
        return {}
    symmetry = np.mean([_gain(f, o, a) for o in optimizers for a in activations], axis=0)
    gelu, prelu = (
        np.mean([f.values(o, m, a) for o in optimizers for m in (BASE, BROKEN)], axis=0)
        for a in ("gelu", "random_prelu")
    )
    return {"symmetry": mean_interval(symmetry), "activation": paired_difference(gelu, prelu)}


def rates(f: Factorial) -> dict[tuple[str, str], dict[float, Estimate]]:
    """(optimizer, symmetry) -> rate factor -> loss under GELU, over the seeds that were run at that factor."""
    found: dict[tuple[str, str], dict[float, Estimate]] = {}
    for o in f.levels("optimizer"):
        for m in f.levels("symmetry"):
            run = [factor for factor in f.levels("rate_factor") if f.record(o, m, "gelu", factor)]
            found[o, m] = {factor: mean_interval(f.values(o, m, "gelu", factor)) for factor in run}
    return found


@dataclass(frozen=True)
class Batches:
    """What single batches are worth over all recorded trials at the published rates."""

    trials: int
    batches: int
    spread: float
    """Mean over trials of the standard deviation from batch to batch (nats)."""
    paired_spread: float
    """The same of the difference of two arms on the same batch: symmetric minus bQ+bV, seed by seed."""
    same_easiest: int
    """Trials whose lowest batch is the one that is lowest most often: then "the best evaluation" is a property of the
    text."""


def batches(f: Factorial) -> Batches | None:
    """Spread of single batches and how far it is shared by arms; ``None`` where no trial measured two."""
    losses = {
        (*cell, trial["seed"]): np.array(found)
        for cell in f.cells
        for trial in f.done(*cell)
        if len(found := trial["analyses"]["batch_losses"]) > 1
    }
    if not losses:
        return None
    table = np.array(list(losses.values()))
    pairs = [(found, losses.get((o, BROKEN, a, seed))) for (o, m, a, seed), found in losses.items() if m == BASE]
    apart = [(mine - theirs).std(ddof=1) for mine, theirs in pairs if theirs is not None]
    _, often = np.unique(table.argmin(axis=1), return_counts=True)
    paired = float(np.mean(apart)) if apart else math.nan
    return Batches(len(table), table.shape[1], float(table.std(axis=1, ddof=1).mean()), paired, int(often.max()))


@dataclass(frozen=True)
class Protocol:
    """What the published way to validate would have said of one real trained run: the lowest of k single-batch
    losses."""

    arm: str
    """In words."""
    batch_losses: Values
    """(B,) nats per token, of single batches spread over the validation split."""
    reported: dict[int, Estimate]
    """k -> the expected lowest of k batches, drawn from these without replacement."""

    @property
    def mean(self) -> float:
        """The loss over all batches: what there is to know."""
        return float(self.batch_losses.mean())


def protocol(f: Factorial, optimizer: str = "adamw", symmetry: str = BASE, activation: str = "gelu") -> Protocol | None:
    """The published protocol applied to the first recorded trial of an arm; ``None`` without a trial that measured at
    least two batches.

    The model is the trained one at every draw, so this is the part of the optimism that has nothing to do with
    training.
    """
    measured = [np.array(t["analyses"].get("batch_losses", ())) for t in f.done(optimizer, symmetry, activation)]
    losses = next((found for found in measured if len(found) > 1), None)
    if losses is None:
        return None
    ks = [k for k in (1, 2, 4, 8, 16, 32, 64, PUBLISHED_EVALUATIONS) if k <= len(losses)]
    found = best_of_k_curve(losses, ks, np.random.default_rng(0), lower_is_better=True)
    return Protocol(", ".join(map(words, (optimizer, symmetry, activation))), losses, dict(zip(ks, found, strict=True)))
