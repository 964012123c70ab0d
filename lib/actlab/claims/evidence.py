"""What the claims on language models are judged by: the grids at each published scale, and the runs with the published defects switched on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from actlab import readings, store
from actlab.grid import Grid, read
from actlab.readings import IGNORED, Reading
from actlab.records.settings import usual
from actlab.store import Record

STUDIES = {"full": "repro-full", "partial": "repro-partial", "lite": "repro-lite"}
"""scale -> study, largest first: a claim is judged at the largest scale that has records and that its test allows."""
ON_CPU = {"repro-partial": "repro-partial-cpu"}
"""Study -> the same on the CPU, as far as it goes, which is read where there is no record of the study itself."""
FLAWED = ("autopsy", "autopsy-convlm", "autopsy-models")
"""The grid's settings at lite scale, with published defects on."""


@dataclass(frozen=True)
class Evidence:
    """Recorded grids by scale, grids by the defect that was on, and what the published way of reading gives."""

    grids: Mapping[str, Grid]
    flawed: Mapping[tuple[str, int], Grid] = field(default_factory=dict)
    """(defect, iterations) -> the arms that it changed; the longest trained first."""
    readings: Mapping[tuple[str, str], Reading] = field(default_factory=dict)
    """(model, activation) -> the arm read as published, on different inputs."""

    def having(self, arms: set[tuple[str, str]], scales: tuple[str, ...]) -> tuple[str, Grid] | None:
        """The first of the scales whose grid has all of these (model, activation) recorded."""
        return next(((s, self.grids[s]) for s in scales if s in self.grids and arms <= set(self.grids[s].arms)), None)

    def with_flaw(self, defect: str, arms: frozenset[tuple[str, str]]) -> Grid | None:
        """A grid of ``arms`` with a defect on, all trained for as many iterations; ``None`` where not all are recorded.

        A corrected relu arm stands among those whose activation was ignored: relu is what they all got.
        """
        lite = self.grids["lite"].arms if "lite" in self.grids else {}
        for (name, iterations), grid in self.flawed.items():
            stand_in = {arm: r for arm, r in lite.items() if (defect, arm[1]) == (IGNORED, "relu") and _iterations(r.record) == iterations}
            if name == defect and arms & set(grid.arms) and arms <= set(together := stand_in | grid.arms):
                return replace(grid, arms=together)
        return None


def gather() -> Evidence:
    """All that is recorded."""
    grids = {scale: read(_records(study)) for scale, study in STUDIES.items()}
    flawed = by_defect(record for study in FLAWED for record in store.load_study(study))
    published = readings.readings(record for study in readings.STUDIES for record in store.load_study(study))
    return Evidence({scale: grid for scale, grid in grids.items() if grid.arms}, flawed, published)


def _records(study: str) -> list[Record]:
    """The study's own settings; arms that somebody added under others are not what a claim is judged by."""
    found = usual(store.load_study(study))
    return found or (usual(store.load_study(ON_CPU[study])) if study in ON_CPU else [])


def by_defect(records: Iterable[Record]) -> dict[tuple[str, int], Grid]:
    """(defect, iterations) -> the arms that it changed; the longest trained first."""
    found: dict[tuple[str, int], list[Record]] = {}
    for record in records:
        if record["kind"] == "trials":
            for defect in record["config"].get("protocol", ()):
                found.setdefault((defect, _iterations(record)), []).append(record)
    return {key: read(found[key]) for key in sorted(found, key=lambda key: (key[0], -key[1]))}


def _iterations(record: Record) -> int:
    return int(record["trials"][0]["final"]["iteration"])
