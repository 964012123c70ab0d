"""The feed-forward sweep on images as read from records: accuracies by network, width, rate, batch and epochs, and
their paired differences."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from actlab.records import settings
from actlab.records.store import Record
from actlab.records.tables import by_seed, levels, trials_of
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import paired_difference
from actlab.statistics.significance import REFERENCE, Test, adjusted

PUBLISHED = PUBLISHED_HIDDEN, PUBLISHED_RATE, PUBLISHED_BATCH = 8, 1e-3, 64
"""What the first reference study fixed: the width in its random search, rate and batch in its width sweep."""
ACCURACY = "val_accuracy"
CELL = list(settings.CELLS["mnist"])
"""Columns that make a cell of the sweep: network, hidden units, learning rate, batch size."""


@dataclass(frozen=True)
class Sweep:
    """The table of trials, a row each; accuracies in %."""

    trials: pd.DataFrame
    every: pd.DataFrame
    """With those of more epochs, which stand for themselves and enter no other comparison."""

    @property
    def networks(self) -> list[str]:
        """Names, relu first, the matched arm last."""
        return levels(self.trials, "network")

    @property
    def cell(self) -> tuple[int, float, int]:
        """(hidden, rate, batch) that stand for the sweep where one cell is shown: the published ones, or the recorded
        ones nearest to them."""

        def near(factor: str, wanted: float) -> float:
            return min(levels(self.trials, factor), key=lambda level: abs(math.log(level / wanted)), default=wanted)

        hidden, rate, batch = map(near, CELL[1:], PUBLISHED)
        return int(hidden), float(rate), int(batch)


def read(records: Iterable[Record], longer: Iterable[Record] = ()) -> Sweep:
    """A sweep from the records of its arms, and from those of a longer training; an empty one from none.

    Where arms of several settings are among the records, those of the settings that most share are read
    (``settings.usual``); arms that differ in their epochs alone go by the fewest, and the others are longer trainings.
    """
    own = settings.usual(records, apart=("epochs",))
    trials, every = trials_of(own, "mnist"), trials_of([*own, *longer], "mnist").drop_duplicates(["record", "seed"])
    return Sweep(trials[trials["epochs"] == trials["epochs"].min()], every)


def differences(sweep: Sweep, network: str) -> dict[tuple[int, float, int], Estimate]:
    """(hidden, rate, batch) -> validation accuracy minus relu's (percentage points), paired by seed: same batches in
    the same order."""
    wide = by_seed(sweep.trials, CELL, ACCURACY)
    if not {network, REFERENCE} <= {*sweep.networks}:
        return {}
    mine, theirs = wide[network], wide[REFERENCE]
    both = sorted({*mine} & {*theirs}, key=lambda cell: cell[::-1])
    return {cell: paired_difference(mine[cell], theirs[cell]) for cell in both}


def tested(sweep: Sweep) -> dict[str, dict[tuple[int, float, int], Test]]:
    """Network -> (hidden, rate, batch) -> accuracy minus relu's, and its p-value after Holm over all cells of the
    network; nothing without relu."""
    others = [network for network in sweep.networks if network != REFERENCE]
    return {network: adjusted(found) for network in others if (found := differences(sweep, network))}


def by_epochs(sweep: Sweep, network: str, hidden: int) -> pd.DataFrame:
    """A column a number of epochs, a row a seed: a network's accuracy at the rate and batch of ``sweep.cell``."""
    cell = dict(zip(CELL, (network, hidden, *sweep.cell[1:]), strict=True))
    here = (sweep.every[CELL] == pd.Series(cell)).all(axis=1)
    return by_seed(sweep.every[here], ["epochs"], ACCURACY)


def gains(sweep: Sweep, network: str, hidden: int) -> dict[int, Estimate]:
    """epochs -> the accuracy minus its value after one epoch (percentage points), paired by seed: the first epoch is
    the same."""
    scores = by_epochs(sweep, network, hidden)
    return {int(e): paired_difference(scores[e], scores[1]) for e in scores if e > 1 and 1 in scores}
