"""What claims on language models are judged by: the grids at each published scale, and runs with published defects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from actlab.records import store
from actlab.records.defects import BOTH, DOUBLED, IGNORED, UNPAIRED
from actlab.records.repro import ArmResults, Grid, read
from actlab.records.settings import date_of, usual
from actlab.records.store import Record
from actlab_audit.readings import Reading, readings

NOTHING = read([])
STUDIES = {"full": "repro-full", "partial": "repro-partial", "lite": "repro-lite"}
"""scale -> study, largest first: a claim is judged at the largest scale that has records and that its rule allows."""
FLAWED: tuple[str, ...] = ("autopsy", "autopsy-tinylstm", "autopsy-convlm", "autopsy-models", "autopsy-swiglu")
FLAWED += ("autopsy-short", "autopsy-charlm", "autopsy-pairing", "autopsy-partial", "autopsy-smelu")
"""The grids' settings, with published defects on; of two arms of one cell the later study's counts."""
Cell = tuple[str, str]
"""(model, activation)."""
Arms = dict[Cell, ArmResults]
Key = tuple[str, str, int]
"""(defect, scale, iterations)."""
SPARED: dict[str, Callable[[Cell], bool]] = {
    IGNORED: lambda cell: cell[1] == "relu" or cell[0] == "charlm",
    BOTH: lambda cell: cell[0] != "convlm",
}
"""Defect of training -> the arms that it leaves as they are: each may stand beside the ones that it changed."""


@dataclass(frozen=True)
class Evidence:
    """Recorded grids by scale, grids by the defect that was on, and what the published way of reading gives."""

    grids: Mapping[str, Grid]
    flawed: Mapping[Key, Arms] = field(default_factory=dict)
    """The arms that a defect changed; the longest trained first."""
    readings: Mapping[Cell, Reading] = field(default_factory=dict)
    """(model, activation) -> the arm read as published, on different inputs."""

    def arms(self, scale: str) -> Arms:
        """Those that are recorded at a scale."""
        return self.grids.get(scale, NOTHING).arms

    def having(self, cells: Collection[Cell], groups: Iterable[Sequence[str]]) -> tuple[str, Arms] | None:
        """The first group of scales each of which has all of these recorded, and those arms; of several scales each
        model is named with its scale."""
        for scales in groups:
            if all(set(cells) <= set(self.arms(scale)) for scale in scales):
                told = "{}, {}" if len(scales) > 1 else "{}"
                found = {(told.format(m, s), a): self.arms(s)[m, a] for s in scales for m, a in cells}
                return " and ".join(scales), found
        return None

    def with_flaw(self, defect: str, cells: Collection[Cell]) -> Iterator[tuple[str, Arms]]:
        """(scale, the arms with a defect on, all trained for as many iterations), wherever all are recorded.

        An arm that the defect leaves as it is stands for itself: relu, where activations are ignored, is what all got.
        """
        spared: Callable[[Cell], bool] = SPARED.get(defect, lambda cell: False)
        for (name, scale, iterations), arms in self.flawed.items():
            if name != defect or not set(cells) & set(arms):
                continue
            correct = self.arms(scale) | self.flawed.get(("", scale, iterations), {})
            found = {c: arm for c, arm in correct.items() if spared(c) and _iterations(arm.record) == iterations}
            if set(cells) <= set(found := found | arms):
                yield scale, {cell: found[cell] for cell in cells}


def gather() -> Evidence:
    """All that is recorded; arms that somebody added under other settings decide no claim."""
    grids = {scale: read(found) for scale, study in STUDIES.items() if (found := usual(store.load_study(study)))}
    flawed = [record for study in FLAWED for record in store.load_study(study)]
    small = [record for record in flawed if record.get("config", {}).get("scale") == "lite"]
    return Evidence(grids, by_defect(flawed), readings(small))


def by_defect(records: Iterable[Record]) -> dict[Key, Arms]:
    """The arms that each defect changed; the longest trained first. Under "" stand those that none changed while they
    trained; under ``UNPAIRED`` what the published way of reading gives.
    """
    found: dict[Key, Arms] = {}
    for record in records:
        if record["kind"] == "trials":
            defects = record["config"].get("protocol", ())
            for defect in (*defects, *([] if {*SPARED, DOUBLED} & set(defects) else [""])):
                arm = ArmResults(as_read(record) if defect == UNPAIRED and "as_published" in record else record)
                key = defect, str(record["config"]["scale"]), _iterations(record)
                found.setdefault(key, {})[arm.model, arm.activation] = arm
    return {key: found[key] for key in sorted(found, key=lambda key: (key[0], key[1], -key[2]))}


def as_read(record: Record) -> Record:
    """The record with the numbers of the published reading in place of its own, and ``itself``: the same of each model
    with itself."""
    read = record["as_published"]
    own = {trial["label"]: trial for trial in read["trials"]}
    trials = [trial | {"final": trial["final"] | own.get(trial["label"], {})} for trial in record["trials"]]
    pairs = [pair | {"total_variation": pair["coded_pd"]} for pair in read["pairs"]]
    return record | {"trials": trials, "reproducibility_metrics": pairs, "itself": read["itself"]}


def _iterations(record: Record) -> int:
    return int(record["trials"][0]["final"]["iteration"])


def since(records: Iterable[Record]) -> str:
    """Date of the first of these records, as they say themselves; empty where they say nothing."""
    return min(filter(None, map(date_of, records)), default="")
