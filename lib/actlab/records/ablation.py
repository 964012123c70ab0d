"""The optimizer x symmetry x activation ablation as read from records: every trial a row, the published losses, effects
of bQ+bV with intervals over seeds. An effect is a loss with bQ+bV minus the loss without it: below 0 it helps."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from actlab.errors import BadInput
from actlab.records.settings import place
from actlab.records.store import Record
from actlab.records.tables import by_seed, levels, trials_of
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval, without_replacement

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
LOSS = "val_loss"
ARM = ("optimizer", "symmetry", "activation")
SETTING = ("dataset", "vocab_size", "scale", "batch_size", "context", "iterations")
"""What every arm of one reading shares."""
ACTIVATIONS = ("gelu", "random_prelu")
CELLS = [(o, s, a) for o in PUBLISHED for s in (BASE, BROKEN) for a in ACTIVATIONS]
"""Of the published factorial."""
Cell = tuple[str, str, str]
"""Optimizer, symmetry, activation."""


@dataclass(frozen=True)
class Factorial:
    """The tidy table of trials of one setting, and the records behind it, one an arm."""

    trials: pd.DataFrame
    records: tuple[Record, ...]

    def losses(self, cells: Iterable[Cell]) -> pd.DataFrame:
        """A column a cell, a row a seed: the final loss; NaN for a trial that diverged or is not recorded."""
        return by_seed(self.trials, ARM, LOSS).reindex(columns=pd.MultiIndex.from_tuples(cells, names=ARM))

    def values(self, *cell: str) -> Values:
        """(seeds,) the final loss of (optimizer, symmetry, activation) in the order of the reading's seeds."""
        return self.losses([cell]).to_numpy()[:, 0]  # type: ignore[list-item]

    @property
    def cells(self) -> list[Cell]:
        """Every arm that is recorded, in the study's order."""
        found = {tuple(record[factor] for factor in ARM) for record in self.records}
        return sorted(found, key=lambda cell: [*map(place, cell)])


def table(records: Iterable[Record]) -> pd.DataFrame:
    """The tidy table of trials with each arm's context and vocabulary."""
    trials = trials_of(chosen := [record for record in records if record.get("kind") == "ablation"], "ablation")
    about = {record["arm"]: record for record in chosen}
    arms = [about[arm] for arm in trials["record"]]
    return trials.assign(
        context=[arm["config"]["model_size"]["block_size"] for arm in arms],
        vocab_size=[arm["provenance"]["data"]["vocab_size"] for arm in arms],
    )


def read(records: Iterable[Record]) -> Factorial:
    """A factorial from the records of its arms; an empty one from none. Where an optimizer ran at several rates, its
    arms are those of the rate that most of them have, of two such rates that nearest to the published one.

    Raises:
        BadInput: the records differ in data, model size, batch or length, so that their losses cannot be compared.
    """
    trials = table(records := list(records))
    arms = trials.drop_duplicates([*ARM, "rate_factor"]).groupby("optimizer")["rate_factor"]
    rate = {o: max(at, key=lambda x, at=at: ((at == x).sum(), -abs(math.log(x)))) for o, at in arms}  # type: ignore[misc]
    trials = trials[trials["rate_factor"] == trials["optimizer"].map(rate)]
    settings = trials[list(SETTING)].drop_duplicates()
    if len(settings) > 1:
        said = "; ".join(", ".join(f"{k}={v}" for k, v in row.items()) for row in settings.to_dict("records"))
        raise BadInput(f"records of different settings cannot be read together: {said}")
    chosen = [r for r in records if r.get("kind") == "ablation" and r["rate_factor"] == rate[r["optimizer"]]]
    return Factorial(trials, tuple(chosen))


def effect(f: Factorial) -> pd.DataFrame:
    """A column an (optimizer, activation), a row a seed: loss with bQ+bV minus that without (nats), seed by seed: the
    arms share start and batches."""
    cells = list(product(levels(f.trials, "optimizer"), levels(f.trials, "activation")))
    broken, base = (f.losses([(o, s, a) for o, a in cells]).droplevel("symmetry", axis=1) for s in (BROKEN, BASE))
    return broken - base


def effects(f: Factorial) -> dict[tuple[str, str], Estimate]:
    """(optimizer, activation) -> effect of bQ+bV (nats)."""
    return {cell: mean_interval(values) for cell, values in effect(f).items()}


def symmetry(f: Factorial) -> Estimate:
    """The effect of bQ+bV averaged over optimizers and activations; a seed that misses a cell has no average."""
    return mean_interval(effect(f).mean(axis=1, skipna=False))


def interaction(f: Factorial) -> Estimate:
    """The effect of bQ+bV under random PReLU minus that under GELU, averaged over optimizers: below 0 is in favour of
    PReLU."""
    if not {*ACTIVATIONS} <= {*levels(f.trials, "activation")}:
        return mean_interval([])
    prelu, gelu = (effect(f).xs(name, level="activation", axis=1) for name in ("random_prelu", "gelu"))
    return mean_interval((prelu - gelu).mean(axis=1, skipna=False))


def rates(records: Iterable[Record]) -> dict[str, dict[float, Estimate]]:
    """Optimizer -> multiple of its published learning rate -> loss, over all seeds that were run at it."""
    found = table(records).groupby(["optimizer", "rate_factor"])[LOSS].apply(mean_interval)
    return {optimizer: found[optimizer].to_dict() for optimizer in sorted({o for o, _ in found.index}, key=place)}


@dataclass(frozen=True)
class Batches:
    """What the published way to validate, the lowest of many evaluations of one batch each, makes of trained runs."""

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
    return Batches(k, float(spread), float(optimism))
