"""The feed-forward sweep as read from records: accuracies by network, width, rate and batch, and what statistics say of
them. Draws nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from actlab.records import settings
from actlab.records.estimates import ALPHA, adjusted
from actlab.records.schema import SCORES
from actlab.records.store import Record
from actlab.records.tables import of_records
from actlab.statistics.best_of_k import best_of_k_curve, bootstrap_maximum
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval, paired_difference
from actlab.wording import bullets, signed

PUBLISHED_RATE, PUBLISHED_BATCH, PUBLISHED_HIDDEN = 1e-3, 64, 8
"""What the first reference study fixed: rate and batch in its width sweep, the width in its random search."""
ACCURACY = "val_accuracy"
SILENT = 1e-4
"""A validation loss this near to ln 10 means that the network answers all ten classes alike, whatever the image."""
DEAD = f"loss within {SILENT:.4f} of ln 10"
WORDS = {"relu": "ReLU", "geglu_equal_width": "GeGLU, equal width", "geglu_equal_parameters": "GeGLU, equal parameters"}
LABELS = {"val_accuracy": "validation accuracy (%)", "test_accuracy": "test accuracy (%)"}


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
        order = {"relu": 0, "geglu_equal_width": 1, "geglu_equal_parameters": 2}
        return sorted(self.trials["network"].unique(), key=lambda name: (order.get(name, 9), name))

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
        t = self.trials
        chosen = t[(t["network"] == network) & (t["hidden"] == hidden) & (t["rate"] == rate) & (t["batch"] == batch)]
        return chosen.sort_values("seed")[metric].to_numpy(float)

    def pool(self, network: str, hidden: int, metric: str = ACCURACY) -> NDArray[np.float64]:
        """Scores over all rates, batches and seeds: what a random search over rate and batch draws from; a diverged
        trial counts as the worst."""
        t = self.trials
        values = (
            t[(t["network"] == network) & (t["hidden"] == hidden)]
            .sort_values(["rate", "batch", "seed"])[metric]
            .to_numpy(float)
        )
        return np.where(np.isnan(values), 0.0, values)


COLUMNS = {"learning_rate": "rate", "batch_size": "batch", "parameters": "n_parameters"}
"""Column of the tidy table -> its short name here."""
FACTORS = ("network", "hidden", "rate", "batch", "epochs", "seed", "status", "collapsed", "n_parameters", "optimizer")


def read(records: Iterable[Record], longer: Iterable[Record] = ()) -> Sweep:
    """A sweep from the records of its arms, and from those of a longer training; an empty one from none.

    Where arms of several settings are among the records, those of the settings that most share are read
    (``settings.usual``); arms that differ in their epochs alone go by the fewest, and the others are longer trainings.

    Raises:
        RecordError: a record of another shape.
    """
    trials = table(settings.usual(records, apart=("epochs",)))
    more = trials["epochs"] > trials["epochs"].min()
    return Sweep(
        trials[~more], pd.concat([found for found in (table(longer), trials[more]) if len(found)] or [trials[:0]])
    )


def table(records: Iterable[Record]) -> pd.DataFrame:
    """Every trial of the records as a row, by the tidy table of trials."""
    trials, _ = of_records(record for record in records if record.get("kind") == "mnist")
    return trials.rename(columns=COLUMNS).reindex(columns=[*FACTORS, *SCORES, "dataset"])


def by_width(sweep: Sweep, metric: str = ACCURACY) -> dict[str, dict[int, Estimate]]:
    """network -> hidden -> accuracy at the rate and batch of ``sweep.cell``, with a t interval over seeds."""
    widths = [int(h) for h in sweep.levels("hidden")]
    return {n: {h: mean_interval(sweep.scores(n, h, *sweep.cell[1:], metric)) for h in widths} for n in sweep.networks}


def differences(sweep: Sweep, network: str, reference: str = "relu") -> dict[tuple[int, float, int], Estimate]:
    """(hidden, rate, batch) -> validation accuracy less the reference's (percentage points), paired by seed: same
    batches in the same order."""
    cells = [
        (int(h), float(r), int(b))
        for b in sweep.levels("batch")
        for r in sweep.levels("rate")
        for h in sweep.levels("hidden")
    ]
    found = {cell: (sweep.scores(network, *cell), sweep.scores(reference, *cell)) for cell in cells}
    return {
        cell: paired_difference(own, others) for cell, (own, others) in found.items() if len(own) == len(others) > 0
    }


def over_epochs(sweep: Sweep, hidden: int = 0, metric: str = ACCURACY) -> dict[str, dict[int, Estimate]]:
    """network -> epochs -> accuracy at ``sweep.cell`` (``hidden`` instead of its width), with a t interval over
    seeds."""
    cells = {network: _by_epochs(sweep, network, hidden or sweep.cell[0], metric) for network in sweep.networks}
    return {
        network: {epochs: mean_interval(scores) for epochs, scores in cell.items()} for network, cell in cells.items()
    }


def gains(sweep: Sweep, network: str, hidden: int, metric: str = ACCURACY) -> dict[int, Estimate]:
    """epochs -> the metric less its value after one epoch (percentage points), paired by seed: the first epoch is the
    same."""
    scores = _by_epochs(sweep, network, hidden, metric)
    return {
        epochs: paired_difference(found, scores[1])
        for epochs, found in scores.items()
        if epochs > 1 and len(found) == len(scores.get(1, ()))
    }


def _by_epochs(sweep: Sweep, network: str, hidden: int, metric: str) -> dict[int, NDArray[np.float64]]:
    """epochs -> (seeds,) the metric of that network at the rate and batch of ``sweep.cell``."""
    _, rate, batch = sweep.cell
    t = (
        pd.concat([table for table in (sweep.trials, sweep.longer) if len(table)])
        if len(sweep.trials)
        else sweep.trials
    )
    cell = t[(t["network"] == network) & (t["hidden"] == hidden) & (t["rate"] == rate) & (t["batch"] == batch)]
    return {
        int(e): cell[cell["epochs"] == e].sort_values("seed")[metric].to_numpy(float)
        for e in sorted(cell["epochs"].unique())
    }


def best_curves(
    sweep: Sweep, generator: np.random.Generator, hidden: int = 0, ks: Sequence[int] = range(1, 65)
) -> dict[str, list[Estimate]]:
    """network -> expected best validation accuracy of a random search over rate and batch, for each budget k."""
    return {
        network: best_of_k_curve(sweep.pool(network, hidden or sweep.cell[0]), ks, generator)
        for network in sweep.networks
    }


@dataclass(frozen=True)
class Search:
    """One random search as published: k draws, and the interval that the study put around their best."""

    network: str
    k: int
    scores: NDArray[np.float64]
    """(k,) validation accuracies in the order of the draws."""
    bootstrap: Estimate


def published_searches(sweep: Sweep, seed: int, hidden: int = 0, budgets: Sequence[int] = (2, 4, 8)) -> list[Search]:
    """The first study's random searches, drawn from the recorded factorial: arms draw independently, as published;
    ``seed`` makes the draws.

    A budget larger than an arm's trials cannot be drawn and is left out.
    """
    generator = np.random.default_rng(seed)
    found = []
    pools = {network: sweep.pool(network, hidden or sweep.cell[0]) for network in sweep.networks}
    for k in budgets:
        for network, pool in pools.items():
            if k > len(pool):
                continue
            scores = pool[generator.choice(len(pool), size=k, replace=False)]
            found.append(Search(network, k, scores, bootstrap_maximum(scores, generator)))
    return found


def optimism(sweep: Sweep) -> Estimate:
    """How much better the selected configuration looks on the images that selected it than on the test images
    (percentage points).

    For each network and seed, the rate and batch with the best validation accuracy at the width of ``sweep.cell``;
    validation less test accuracy of that trial.
    """
    t = sweep.trials[(sweep.trials["hidden"] == sweep.cell[0]) & (sweep.trials["status"] == "done")]
    best = t.loc[t.groupby(["network", "seed"])[ACCURACY].idxmax()]
    by_seed = (best["val_accuracy"] - best["test_accuracy"]).groupby(best["seed"]).mean()
    return mean_interval(by_seed.to_numpy(float))


def sentences(sweep: Sweep) -> dict[str, str]:
    """Name -> sentence with numbers from the records."""
    if not len(sweep.trials):
        return dict.fromkeys(
            ("mnist_extent", "mnist_equal_width", "mnist_equal_parameters", "mnist_optimism"), "No record yet"
        )
    t = sweep.trials
    collapsed = int(t["collapsed"].sum())
    diverged, silent = int((t["status"] == "diverged").sum()), int(_dead(t).sum())
    both = int((_dead(t) & t["collapsed"]).sum())
    lost = f"{collapsed} collapsed to one class, {silent} are dead ({DEAD}), {both} are both"
    found = {"mnist_extent": f"{len(t)} networks were trained, {diverged} diverged, {lost}"}
    if sweep.cell != (PUBLISHED_HIDDEN, PUBLISHED_RATE, PUBLISHED_BATCH):
        hidden, rate, batch = sweep.cell
        found["mnist_cell"] = (
            f"Where one cell is shown it is hidden {hidden}, rate {rate:g}, batch {batch}: the published ones are not recorded here"
        )
    for network in sweep.networks:
        if network != "relu" and "relu" in sweep.networks:
            found[f"mnist_{network.removeprefix('geglu_')}"] = _against_relu(sweep, network)
    look = optimism(sweep)
    found["mnist_optimism"] = (
        f"The rate and batch that look best on the validation images are {signed(look, 2)} points better there "
        "than on the test images"
    )
    return found


def _against_relu(sweep: Sweep, network: str) -> str:
    found = adjusted(differences(sweep, network)).values()
    better, worse = (sum(p < ALPHA and sign * e.value > 0 for e, p in found) for sign in (1, -1))
    name = network.replace("_", " ").replace("geglu", "GeGLU at")
    return f"{name} is better than ReLU in {better} and worse in {worse} of {len(found)} cells of width, rate and batch (Holm, 5%)"


def listed(sweep: Sweep) -> Any:
    """The sentences as a bulleted list for a notebook."""
    return bullets(sentences(sweep).values())


def collapses(sweep: Sweep) -> pd.DataFrame:
    """By network and rate: trials that give one class to every validation image, and those whose output is dead (all
    classes alike)."""
    t = sweep.trials.assign(dead=_dead(sweep.trials))
    table = t.groupby(["network", "rate"]).agg(
        trials=("seed", "size"), one_class=("collapsed", "sum"), dead=("dead", "sum")
    )
    table = table.reindex(sweep.networks, level="network")
    table.index = pd.MultiIndex.from_tuples(
        [(words(network), f"{rate:g}") for network, rate in table.index], names=["", "rate"]
    )
    return table.rename(columns={"one_class": "one class for every image", "dead": f"dead ({DEAD})"})


def _dead(trials: pd.DataFrame) -> pd.Series[bool]:
    """Which trials answer all classes alike."""
    return (trials["val_loss"] - math.log(10)).abs() < SILENT
