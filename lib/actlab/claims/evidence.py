"""What the claims on language models are judged by: the recorded grids at each published scale, and the runs with a flaw switched on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from actlab import store
from actlab.grid import Grid, read
from actlab.store import Record

STUDIES = {"full": "repro-full", "partial": "repro-partial", "lite": "repro-lite"}
"""scale -> study, largest first: a claim is judged at the largest scale that has records and that its test allows."""
FLAWED = "autopsy"
"""Of the runs with a defect of the published protocol switched on, by name."""


@dataclass(frozen=True)
class Evidence:
    """Recorded grids by scale, and by defect."""

    grids: Mapping[str, Grid]
    flawed: Mapping[str, Grid] = field(default_factory=dict)

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
    return Evidence({scale: grid for scale, grid in grids.items() if grid.arms}, _flawed(store.load_study(FLAWED)))


def _flawed(records: list[Record]) -> dict[str, Grid]:
    """One grid for each defect that was switched on alone."""
    defects = {tuple(r["config"].get("protocol", ())) for r in records if r["kind"] == "trials"}
    return {d[0]: read(r for r in records if tuple(r.get("config", {}).get("protocol", ())) == d) for d in sorted(defects) if len(d) == 1}
