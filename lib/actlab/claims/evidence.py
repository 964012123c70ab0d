"""What the claims on language models are judged by: the grids at each published scale, and the runs with the published defects switched on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from actlab import readings, store
from actlab.grid import Grid, read
from actlab.readings import Reading
from actlab.store import Record

STUDIES = {"full": "repro-full", "partial": "repro-partial", "lite": "repro-lite"}
"""scale -> study, largest first: a claim is judged at the largest scale that has records and that its test allows."""
FLAWED = ("autopsy-convlm", "autopsy-models")
"""The grid's settings at lite scale, with the published defects on."""


@dataclass(frozen=True)
class Evidence:
    """Recorded grids by scale, grids by the defect that was on, and what the published way of reading gives."""

    grids: Mapping[str, Grid]
    flawed: Mapping[str, Grid] = field(default_factory=dict)
    readings: Mapping[tuple[str, str], Reading] = field(default_factory=dict)
    """(model, activation) -> the arm read as published, on different inputs."""

    def having(self, arms: set[tuple[str, str]], scales: tuple[str, ...]) -> tuple[str, Grid] | None:
        """The first of the scales whose grid has all of these (model, activation) recorded."""
        return next(((s, self.grids[s]) for s in scales if s in self.grids and arms <= set(self.grids[s].arms)), None)

    def with_flaw(self, defect: str, arms: frozenset[tuple[str, str]]) -> Grid | None:
        """The grid at lite scale with the arms that were run with a defect in their place; ``None`` where none of ``arms`` was."""
        flawed, lite = self.flawed.get(defect), self.grids.get("lite")
        if flawed is None or not arms & set(flawed.arms):
            return None
        together = replace(flawed, arms=(lite.arms if lite else {}) | flawed.arms)
        return together if arms <= set(together.arms) else None


def gather() -> Evidence:
    """All that is recorded."""
    grids = {scale: read(store.load_study(study)) for scale, study in STUDIES.items()}
    flawed = by_defect(record for study in FLAWED for record in store.load_study(study))
    published = readings.readings(record for study in readings.STUDIES for record in store.load_study(study))
    return Evidence({scale: grid for scale, grid in grids.items() if grid.arms}, flawed, published)


def by_defect(records: Iterable[Record]) -> dict[str, Grid]:
    """defect -> the arms that it changed."""
    trained = [record for record in records if record["kind"] == "trials"]
    defects = {defect for record in trained for defect in record["config"].get("protocol", ())}
    return {defect: read(r for r in trained if defect in r["config"].get("protocol", ())) for defect in sorted(defects)}
