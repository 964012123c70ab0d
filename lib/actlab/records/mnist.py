"""The feed-forward sweep on images as read from records: accuracies by network, width, rate, batch and epochs, and
their paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from actlab.records import settings
from actlab.records.store import Record
from actlab.records.tables import of_records
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval, paired_difference

PUBLISHED_RATE, PUBLISHED_BATCH, PUBLISHED_HIDDEN = 1e-3, 64, 8
"""What the first reference study fixed: rate and batch in its width sweep, the width in its random search."""
ACCURACY = "val_accuracy"
WORDS = {"relu": "ReLU", "geglu_equal_width": "GeGLU, equal width", "geglu_equal_parameters": "GeGLU, equal parameters"}
COLUMNS = {"learning_rate": "rate", "batch_size": "batch", "parameters": "n_parameters"}
"""Column of the tidy table -> its short name here."""
FACTORS = ("network", "hidden", "rate", "batch", "epochs", "seed", "status", "collapsed", "n_parameters", "optimizer")
SHOWN = (*FACTORS, "val_accuracy", "test_accuracy", "val_loss", "dataset")


def words(network: str) -> str:
    """A network's name for people."""
    return WORDS.get(network, network)


@dataclass(frozen=True)
class Sweep:
    """Every trial as a row: network, hidden, rate, batch, seed, status, collapsed, accuracies (%), val_loss (nats),
    more."""

    trials: pd.DataFrame
    longer: pd.DataFrame
    """The same of trials with more epochs; they stand for themselves and enter no other comparison."""

    @property
    def networks(self) -> list[str]:
        """Names, relu first, the matched arm last."""
        order = list(WORDS)
        return sorted(self.trials["network"].unique(), key=lambda n: (order.index(n) if n in order else len(order), n))

    @property
    def cell(self) -> tuple[int, float, int]:
        """(hidden, rate, batch) that stand for the sweep where one cell is shown: the published ones, or the recorded
        ones nearest to them."""
        wanted = {"hidden": PUBLISHED_HIDDEN, "rate": PUBLISHED_RATE, "batch": PUBLISHED_BATCH}
        near = [min(self.levels(f), key=lambda v, w=w: abs(math.log(v / w)), default=w) for f, w in wanted.items()]  # type: ignore[misc]
        return int(near[0]), float(near[1]), int(near[2])

    def levels(self, factor: str) -> list[float]:
        """The values of a numeric column, rising: ``hidden``, ``rate``, ``batch`` or ``epochs``."""
        return sorted(self.trials[factor].unique())

    def scores(self, network: str, hidden: int, rate: float, batch: int, metric: str = ACCURACY) -> NDArray[np.float64]:
        """(seeds,) the metric in the order of the seeds; NaN for a diverged trial; empty where there is no record."""
        return _scores(self.trials, metric, network=network, hidden=hidden, rate=rate, batch=batch)

    def by_epochs(self, network: str, hidden: int) -> dict[int, NDArray[np.float64]]:
        """epochs -> (seeds,) accuracy of that network at the rate and batch of ``cell``."""
        every = pd.concat([table for table in (self.trials, self.longer) if len(table)] or [self.trials])
        _, rate, batch = self.cell
        cell = {"network": network, "hidden": hidden, "rate": rate, "batch": batch}
        found = {int(e): _scores(every, ACCURACY, **cell, epochs=e) for e in sorted(every["epochs"].unique())}
        return {epochs: scores for epochs, scores in found.items() if len(scores)}


def _scores(trials: pd.DataFrame, metric: str, **cell: object) -> NDArray[np.float64]:
    for factor, level in cell.items():
        trials = trials[trials[factor] == level]
    return trials.sort_values(["rate", "batch", "seed"])[metric].to_numpy(float)


def read(records: Iterable[Record], longer: Iterable[Record] = ()) -> Sweep:
    """A sweep from the records of its arms, and from those of a longer training; an empty one from none.

    Where arms of several settings are among the records, those of the settings that most share are read
    (``settings.usual``); arms that differ in their epochs alone go by the fewest, and the others are longer trainings.

    Raises:
        RecordError: a record of another shape.
    """
    trials = table(settings.usual(records, apart=("epochs",)))
    more = trials["epochs"] > trials["epochs"].min()
    found = [part for part in (table(longer), trials[more]) if len(part)]
    return Sweep(trials[~more], pd.concat(found or [trials[:0]]))


def table(records: Iterable[Record]) -> pd.DataFrame:
    """Every trial of the records as a row, by the tidy table of trials."""
    trials, _ = of_records(record for record in records if record.get("kind") == "mnist")
    return trials.rename(columns=COLUMNS).reindex(columns=list(SHOWN))


def differences(sweep: Sweep, network: str, reference: str = "relu") -> dict[tuple[int, float, int], Estimate]:
    """(hidden, rate, batch) -> validation accuracy minus the reference's (percentage points), paired by seed: same
    batches in the same order."""
    wide = sweep.trials.pivot(index="seed", columns=["network", "hidden", "rate", "batch"], values=ACCURACY)
    if not {network, reference} <= {own for own, *_ in wide}:
        return {}
    mine, theirs = wide[network], wide[reference]
    both = sorted({*mine} & {*theirs}, key=lambda cell: cell[::-1])
    return {cell: paired_difference(mine[cell], theirs[cell]) for cell in both}


def over_epochs(sweep: Sweep) -> dict[str, dict[int, Estimate]]:
    """network -> epochs -> accuracy at ``sweep.cell``, with a t interval over seeds."""
    found = {network: sweep.by_epochs(network, sweep.cell[0]) for network in sweep.networks}
    return {network: {epochs: mean_interval(scores) for epochs, scores in by.items()} for network, by in found.items()}


def gains(sweep: Sweep, network: str, hidden: int) -> dict[int, Estimate]:
    """epochs -> the accuracy minus its value after one epoch (percentage points), paired by seed: the first epoch is
    the same."""
    scores = sweep.by_epochs(network, hidden)
    first = scores.get(1, np.empty(0))
    return {e: paired_difference(found, first) for e, found in scores.items() if e > 1 and len(found) == len(first)}


def optimism(sweep: Sweep) -> Estimate:
    """How much better the selected configuration looks on the images that selected it than on the test images
    (percentage points).

    For each network and seed, the rate and batch with the best validation accuracy at the width of ``sweep.cell``;
    validation minus test accuracy of that trial.
    """
    t = sweep.trials[(sweep.trials["hidden"] == sweep.cell[0]) & (sweep.trials["status"] == "done")]
    best = t.loc[t.groupby(["network", "seed"])[ACCURACY].idxmax()]
    by_seed = (best["val_accuracy"] - best["test_accuracy"]).groupby(best["seed"]).mean()
    return mean_interval(by_seed.to_numpy(float))
