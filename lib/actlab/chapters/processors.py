"""The same seed on another kind of processor: what rounding alone makes of a result, from records and replays.

Two processors add the same numbers in another order, so that every sum may differ in its last digits; seed, code,
versions and data are the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab.figures.primitives import points
from actlab.figures.style import NO_RECORD
from actlab.records import store
from actlab.records.estimates import REFERENCE
from actlab.records.store import Record
from actlab.records.wording import listing, small
from actlab.statistics.estimate import Estimate

NOT_YET = f"{NO_RECORD}: `actlab replay --all --study repro-lite --trial 42` on another kind of processor makes them"
PROCESSOR = ("processor", "capability")
"""What of a machine may differ between twins."""
APART = ("kind", "trials", "ensembles", "snapshots")
"""What of an arm's settings does not reach a trial's loss."""
NOWHERE = 1e-10
"""Where a difference of 0 is drawn, on an axis that has no place for it."""


@dataclass(frozen=True)
class Twin:
    """One trial trained on two kinds of processor."""

    model: str
    activation: str
    scale: str
    label: str
    processors: tuple[str, str]
    losses: tuple[float, float]
    """Final validation loss on each, in nats."""
    between_seeds: float
    """Mean absolute difference of loss between two seeds of the trial's arm, in nats."""

    @property
    def apart(self) -> float:
        """How far the two losses lie apart, in nats."""
        return abs(self.losses[0] - self.losses[1])


Run = tuple[dict[str, Any], float]
"""The machine that a trial was trained on, and its final validation loss."""


def read(studies: Iterable[str]) -> list[Twin]:
    """The twins among the trials of some studies and their replays, in the order of models and activations."""
    names = list(studies)
    records = [r for study in names for r in store.load_study(study) if r["kind"] == "trials"]
    return twins(records, [replay for study in names for replay in store.load_replays(study)])


def twins(records: Iterable[Record], replays: Iterable[Record]) -> list[Twin]:
    """Trials that were trained on two kinds of processor with the same versions, once in a record and once in another
    record or in a replay."""
    arms = list(records)
    runs: dict[tuple[str, str], list[Run]] = {}
    about: dict[tuple[str, str], Record] = {}
    for record in arms:
        for trial in record["trials"]:
            if trial["status"] == "done":
                key = (_settings(record), trial["label"])
                runs.setdefault(key, []).append((record["provenance"]["machine"], trial["final"]["val_loss"]))
                about.setdefault(key, record)
    known = {(record["study"], record["arm"]): record for record in arms}
    for replay in replays:
        replayed = known.get((replay["study"], replay["arm"]))
        if replayed and "val_loss" in replay:
            run = (replay["provenance"]["machine"], replay["val_loss"]["now"])
            runs[_settings(replayed), replay["trial"]].append(run)
    found = [twin for key, run in runs.items() for twin in _twins(about[key], key[1], run)]
    return sorted(
        found, key=lambda twin: (twin.model, twin.activation != REFERENCE, twin.activation, twin.scale, twin.label)
    )


def _settings(record: Record) -> str:
    return store.canonical({key: value for key, value in record["config"].items() if key not in APART})


def _twins(record: Record, label: str, runs: list[Run]) -> list[Twin]:
    """One a pair of processors: the first run on each."""
    first: dict[str, Run] = {}
    for machine, loss in runs:
        first.setdefault(str(machine["processor"]), (machine, loss))
    losses = [t["final"]["val_loss"] for t in record["trials"] if t["status"] == "done"]
    seeds = float(np.mean([abs(a - b) for a, b in combinations(losses, 2)])) if len(losses) > 1 else nan
    who = (record["model_name"], record["activation"], record["config"]["scale"], label)
    return [
        Twin(*who, (a, b), (first[a][1], first[b][1]), seeds)
        for a, b in combinations(sorted(first), 2)
        if _versions(first[a][0]) == _versions(first[b][0])
    ]


def _versions(machine: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in machine.items() if key not in PROCESSOR}


Cells = dict[tuple[str, str], list[Twin]]


def by_arm(found: Iterable[Twin]) -> Cells:
    """(model, activation) -> its twins."""
    cells: Cells = {}
    for twin in found:
        cells.setdefault((twin.model, twin.activation), []).append(twin)
    return cells


def figure(found: list[Twin]) -> Figure:
    """A panel a model, on a logarithmic axis: how far every trial's losses lie apart between two processors (small
    marks), and those of two seeds."""
    singles = {(m, a, a): [max(twin.apart, NOWHERE) for twin in cell] for (m, a), cell in by_arm(found).items()}
    seeds = {
        (m, a, a): Estimate(cell[0].between_seeds, nan, nan, len(cell), 0.95, "mean over pairs of seeds")
        for (m, a), cell in by_arm(found).items()
    }
    return points(seeds, "losses apart (nats); 1e-10 stands for 0", singles=singles, log=True)


def table(found: list[Twin]) -> pd.DataFrame:
    """One row an arm, the largest effect of the processor first within a model: how far the losses lie apart, and how
    far those of two seeds."""
    rows = {
        cell: {
            "trials on two processors": len(trials),
            "losses apart, median (nats)": small(_middle(trials)),
            "smallest to largest (nats)": span(trials),
            "two seeds apart, mean (nats)": small(trials[0].between_seeds),
        }
        for cell, trials in sorted(by_arm(found).items(), key=lambda item: (item[0][0], -_middle(item[1])))
    }
    if not rows:
        return pd.DataFrame({"": {NOT_YET: ""}})
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["model", "activation"])


def _middle(cell: list[Twin]) -> float:
    return float(np.median([twin.apart for twin in cell]))


def span(cell: list[Twin]) -> str:
    """Smallest and largest difference of loss."""
    low, high = (small(pick(twin.apart for twin in cell)) for pick in (min, max))
    return low if len(cell) == 1 else f"{low} to {high}"


def extent(found: list[Twin]) -> str:
    """How many trials were trained on which kinds of processor."""
    kinds = sorted({name for twin in found for name in twin.processors})
    return (
        f"{len(found)} runs of {len(by_arm(found))} configurations were trained from the same seed, with the same "
        f"versions of Python, NumPy and PyTorch, on {listing(kinds)}"
        if found
        else NOT_YET
    )


def summary(found: list[Twin]) -> str:
    """relu against all others."""
    relu = [twin for twin in found if twin.activation == REFERENCE]
    others = [twin for twin in found if twin.activation != REFERENCE]
    if not relu or not others:
        return NOT_YET
    last = max(others, key=lambda twin: twin.apart)
    return (
        f"another kind of processor moves relu's validation loss by {small(_middle(relu))} nats in the median, that of "
        f"the other activations by {small(_middle(others))} and at most by {small(last.apart)} ({last.activation} in "
        f"{last.model})"
    )
