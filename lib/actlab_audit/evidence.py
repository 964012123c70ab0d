"""What claims on language models are judged by: the grids at each published scale, and runs with published defects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from actlab.records import store
from actlab.records.arm_results import ArmResults, arms_of
from actlab.records.defect_names import BOTH, DOUBLED, IGNORED, LAST, UNPAIRED
from actlab.records.settings import date_of, usual
from actlab.records.store import Record

STUDIES = {"full": "repro-full", "partial": "repro-partial", "lite": "repro-lite"}
"""scale -> study, largest first: a claim is judged at the largest scale that has records and that its rule allows."""
SPLIT = {"lite, split 80/20": "autopsy-split"}
"""The same of the front page's split, read as the published code reads: only rows that name it ask for it."""
SHORT = "autopsy-short"
FLAWED: tuple[str, ...] = ("autopsy", "autopsy-tinylstm", "autopsy-convlm", "autopsy-models", "autopsy-swiglu", SHORT)
FLAWED += ("autopsy-charlm", "autopsy-pairing", "autopsy-partial", "autopsy-smelu")
"""The grids' settings, with published defects on; of two arms of one cell the later study's counts."""
MIXED, AVERAGED = "two metrics in one table", "runs of different size and length averaged"
READ = (UNPAIRED, LAST, MIXED, AVERAGED)
"""Flaws of reading: what they give depends on a network's size and length, so that only records of both decide."""
Cell = tuple[str, str]
"""(model, activation)."""
Arms = dict[Cell, ArmResults]
Key = tuple[str, str, int]
"""(flaw, scale, iterations)."""
SPARED: dict[str, Callable[[Cell], bool]] = {
    IGNORED: lambda cell: cell[1] == "relu" or cell[0] == "charlm",
    BOTH: lambda cell: cell[0] != "convlm",
    DOUBLED: lambda cell: False,
}
"""Defect of training -> the arms that it leaves as they are: each may stand beside the ones that it changed."""


def readings(records: Iterable[Record]) -> pd.DataFrame:
    """A row an arm that does not leak and snapshot: mean accuracy (%), and the published reading ``between`` two
    networks and of one network with ``itself``."""
    rows = []
    for record in records:
        if "as_published" in record and BOTH not in record["config"]["protocol"]:
            for at in ArmResults(record).snapshots.values():
                accuracies = [trial["val_accuracy"] for trial in at["trials"]]
                found = (at["as_published"][name] for name in ("pairs", "itself"))
                coded = (np.mean([pair["coded_pd"] for pair in pairs]) for pairs in found)
                rows.append([record["model_name"], np.mean(accuracies), *coded])
    return pd.DataFrame(rows, columns=["model", "val_accuracy", "between", "itself"])


@dataclass(frozen=True)
class Evidence:
    """Recorded grids by scale, arms by the flaw that is on, and what the published way of reading gives."""

    grids: Mapping[str, Arms]
    flawed: Mapping[Key, Arms] = field(default_factory=dict)
    """The arms that a flaw changed; the longest trained first. Under "" those that none changed while they trained."""
    readings: pd.DataFrame = field(default_factory=lambda: readings([]))

    def arms(self, scale: str, fuller: bool = False) -> Arms:
        """Those that are recorded at a scale. ``fuller``: one that has more trials among the runs with published
        defects, none of which changed its training, stands as these."""
        own = self.grids.get(scale, {})
        more = {
            cell: arm
            for (flaw, at, _), arms in self.flawed.items()
            for cell, arm in arms.items()
            if fuller and (flaw, at) == ("", scale) and cell in own
            if len(arm.done) > len(own[cell].done) and settings(arm) == settings(own[cell])
        }
        return own | more

    def having(self, cells: Collection[Cell], groups: Iterable[Sequence[str]], fuller: bool) -> tuple[str, Arms] | None:
        """The first group of scales each of which has all of these recorded, and those arms; of several scales each
        model is named with its scale."""
        for scales in groups:
            every = {scale: self.arms(scale, fuller) for scale in scales}
            if all(set(cells) <= set(arms) for arms in every.values()):
                told = "{}, {}" if len(scales) > 1 else "{}"
                found = {(told.format(m, s), a): arms[m, a] for s, arms in every.items() for m, a in cells}
                return " and ".join(scales), found
        return None

    def with_flaw(self, flaw: str, cells: Collection[Cell]) -> Iterator[tuple[str, Arms]]:
        """(scale, the arms with a flaw on, all trained for as many iterations), wherever all are recorded.

        An arm that the flaw leaves as it is stands for itself: relu, where activations are ignored, is what all got.
        """
        spared: Callable[[Cell], bool] = SPARED.get(flaw, lambda cell: False)
        for (name, scale, length), arms in self.flawed.items():
            if flaw and name == flaw and set(cells) & set(arms):
                correct = self.arms(scale) | self.flawed.get(("", scale, length), {})
                found = {c: arm for c, arm in correct.items() if spared(c) and iterations(arm) == length} | arms
                if set(cells) <= set(found):
                    yield scale, {cell: found[cell] for cell in cells}


def gather() -> Evidence:
    """All that is recorded; arms that somebody added under other settings decide no claim."""
    grids = {scale: arms_of(found) for scale, study in STUDIES.items() if (found := usual(store.load_study(study)))}
    for scale, study in SPLIT.items():
        grids[scale] = arms_of(as_read(record) for record in store.load_study(study) if "as_published" in record)
    flawed = [record for study in FLAWED for record in store.load_study(study)]
    small = {(r["model_name"], r["activation"]): r for r in flawed if r.get("config", {}).get("scale") == "lite"}
    return Evidence(grids, by_flaw(flawed), readings(small.values()))


def by_flaw(records: Iterable[Record]) -> dict[Key, Arms]:
    """The arms that each flaw changed; the longest trained first (``Evidence.flawed``)."""
    found: dict[Key, Arms] = {}
    for record in records:
        if record["kind"] == "trials":
            cell = record["model_name"], record["activation"]
            on = dict.fromkeys(record["config"].get("protocol", ()), record)
            if not any(name in SPARED and not SPARED[name](cell) for name in on):
                on[""] = record
            if "as_published" in record:
                on |= {name: as_read(record) for name in (UNPAIRED, LAST) if name in on}
                on |= {MIXED: as_read(record, MIXED)} if UNPAIRED in on else {}
            if record["study"] == SHORT:
                on[AVERAGED] = on.get(UNPAIRED, record)
            for flaw, one in on.items():
                arm = ArmResults(one)
                key = flaw, str(record["config"]["scale"]), iterations(arm)
                found.setdefault(key, {})[cell] = arm
    for short in [arms for (flaw, scale, _), arms in found.items() if (flaw, scale) == (AVERAGED, "lite")]:
        for (flaw, scale, length), arms in [*found.items()]:
            if (flaw, scale) == (UNPAIRED, "partial"):
                found[AVERAGED, scale, length] = {c: averaged(short[c], arms[c]) for c in arms if c in short}
    return {key: found[key] for key in sorted(found, key=lambda key: (key[0], key[1], -key[2]))}


def as_read(record: Record, flaw: str = UNPAIRED) -> Record:
    """The record with the numbers of the published reading in place of its own, ``itself``: the same of each network
    with itself, and ``correctly``: its own pairs. In a table of two metrics swiglu has the coded one under the name of
    the other."""
    read, coded = record["as_published"], flaw == MIXED and record["activation"] == "swiglu"
    own = {trial["label"]: trial for trial in read["trials"]}
    trials = [trial | {"final": trial["final"] | own.get(trial["label"], {})} for trial in record["trials"]]
    pairs, itself = (
        [
            pair | {"total_variation": pair["coded_pd"]} | ({"relative_pd": pair["coded_pd"]} if coded else {})
            for pair in read.get(name, ())
        ]
        for name in ("pairs", "itself")
    )
    correctly = record["reproducibility_metrics"]
    return record | {"trials": trials, "reproducibility_metrics": pairs, "itself": itself, "correctly": correctly}


def averaged(short: ArmResults, long: ArmResults) -> ArmResults:
    """The longer arm with the mean of both accuracies, seed by seed."""
    both = dict(zip(short.labels, short.values("val_accuracy"), strict=True))
    trials = []
    for trial in long.record["trials"]:
        mean = (trial["final"]["val_accuracy"] + both.get(trial["label"], float("nan"))) / 2
        trials.append(trial | {"final": trial["final"] | {"val_accuracy": mean}})
    return ArmResults(long.record | {"trials": trials})


def iterations(arm: ArmResults) -> int:
    """After which its trials were measured."""
    return int(arm.record["trials"][0]["final"]["iteration"])


def settings(arm: ArmResults) -> tuple[object, ...]:
    """What two arms of one cell share that are one configuration."""
    recipe = arm.record["config"]["recipe"]
    return iterations(arm), arm.record["config"].get("dataset"), recipe.get("batch_size"), recipe.get("learning_rate")


def since(records: Iterable[Record]) -> str:
    """Date of the first of these records, as they say themselves; empty where they say nothing."""
    return min(filter(None, map(date_of, records)), default="")
