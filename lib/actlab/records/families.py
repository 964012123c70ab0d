"""Families of comparisons, one a question, and the trials that several studies share: who repeats whose runs, and whose
p-values are quoted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from actlab.records.repro import ArmResults, Grid, read
from actlab.records.store import Record, canonical
from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import ALPHA, REFERENCE, Cells, adjusted


def comparisons(grid: Grid, metric: str, reference: str = REFERENCE, planned: int = 0) -> Cells:
    """(model, activation) -> the arm minus the reference of its model, paired by seed, and its p-value after Holm over
    all of them, or over as many as were ``planned``."""
    found = {cell: arm.minus(other, metric) for cell, (arm, other) in grid.couples(reference).items()}
    return adjusted(found, planned)


class Tested(NamedTuple):
    """An arm's difference from the reference of its model, in the family that decides."""

    arm: ArmResults
    difference: Estimate
    p: float
    """After Holm over the family."""
    quoted: bool
    """Whether the family is another study's, which has the same trials."""

    @property
    def significant(self) -> bool:
        """At 5%."""
        return self.p < ALPHA


def tested(grid: Grid, metric: str) -> list[Tested]:
    """Every arm minus the reference of the same model, each in its primary family: the grid's own, or the one that it
    quotes where that has the same trials."""
    primary = grid.primary or read([])
    decided = comparisons(primary, metric)
    found = []
    for cell, test in comparisons(grid, metric).items():
        arm = grid.arms[cell]
        there = (arm.record["model_name"], arm.activation)
        again = there in decided and repeats(arm.record, primary.arms[there].record)
        found.append(Tested(arm, *(decided[there] if again else test), again and primary.study != grid.study))
    return found


MEASURED = (
    "trials",
    "kind",
    "prediction_windows",
    "snapshots",
    "ensembles",
    "varies",
    "fixed",
    "recipe",
    "perturbations",
)
"""Settings that do not change a trial's training, or are taken apart."""
NOT_TRAINING = ("evaluate_every", "device", "compiled")
"""Of the recipe."""


def training(record: Record, label: str) -> str:
    """What two records must share for a trial to be the same run: settings that train, and the seed of every random
    stream."""
    config = record["config"]
    varies, seed = config.get("varies", "all"), label.partition("-")[0]
    streams = (
        ["all", seed] if varies == "all" or seed == str(config.get("fixed")) else [varies, seed, config.get("fixed")]
    )
    recipe = {key: value for key, value in config["recipe"].items() if key not in NOT_TRAINING}
    names = [record["model_name"], record["activation"]]
    return canonical([names, {key: value for key, value in config.items() if key not in MEASURED}, recipe, streams])


def runs(records: Iterable[Record]) -> set[str]:
    """The runs, on whatever processor, of every trial that ended well in records of trials (as ``training`` names
    them)."""
    return {training(record, trial["label"]) for record, trial in finished(records)}


def finished(records: Iterable[Record]) -> list[tuple[Record, Record]]:
    """(record, trial) of every trial that ended well, in records of trials."""
    return [(r, t) for r in records if r["kind"] == "trials" for t in r["trials"] if t["status"] == "done"]


def repeats(record: Record, other: Record) -> bool:
    """Whether every trial of an arm that ended well is a run of another arm too."""
    mine = runs([record])
    return bool(mine) and mine <= runs([other])
