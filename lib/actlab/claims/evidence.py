"""What the claims on language models are judged by: the grids at each published scale, and the runs with the published defects switched on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from actlab import store
from actlab.grid import Grid, read
from actlab.store import Record

STUDIES = {"full": "repro-full", "partial": "repro-partial", "lite": "repro-lite"}
"""scale -> study, largest first: a claim is judged at the largest scale that has records and that its test allows."""
FLAWED_GRIDS = ("autopsy-convlm", "autopsy-models")
"""The grid's settings at lite scale, with the published defects on."""
FLAWED_READINGS = (*FLAWED_GRIDS, "autopsy-swiglu")
"""Whose trials are also read the published way."""


@dataclass(frozen=True)
class Reading:
    """Models of one arm at one iteration, read the published way: predictions on different inputs. Means over trials or pairs."""

    model: str
    activation: str
    iteration: int
    accuracy: float
    """On the whole validation split (%)."""
    pairs: Mapping[str, float]
    """metric -> between two models: ``coded_pd``, ``relative_pd`` and ``churn``."""
    itself: Mapping[str, float]
    """metric -> between a model and itself, where 0 would be right."""


@dataclass(frozen=True)
class Evidence:
    """Recorded grids by scale, grids by the defect that was on, and what the published way of reading gives."""

    grids: Mapping[str, Grid]
    flawed: Mapping[str, Grid] = field(default_factory=dict)
    readings: tuple[Reading, ...] = ()

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
    flawed = [record for study in FLAWED_GRIDS for record in store.load_study(study)]
    published = [record for study in FLAWED_READINGS for record in store.load_study(study)]
    return Evidence({scale: grid for scale, grid in grids.items() if grid.arms}, by_defect(flawed), tuple(readings(published)))


def by_defect(records: Iterable[Record]) -> dict[str, Grid]:
    """defect -> the arms that it changed."""
    trained = [record for record in records if record["kind"] == "trials"]
    defects = {defect for record in trained for defect in record["config"].get("protocol", ())}
    return {defect: read(r for r in trained if defect in r["config"].get("protocol", ())) for defect in sorted(defects)}


def readings(records: Iterable[Record]) -> Iterator[Reading]:
    """Of every arm that was read the published way, at its end and along the way."""
    for record in records:
        if record["kind"] == "trials" and record.get("as_published", {}).get("pairs"):
            finals = [trial["final"] for trial in record["trials"] if trial["status"] == "done"]
            points = [(finals, record["as_published"]), *((at["trials"], at["as_published"]) for at in record.get("trajectory", ()))]
            for evaluations, published in points:
                accuracy = float(np.mean([e["val_accuracy"] for e in evaluations]))
                about = (record["model_name"], record["activation"], int(evaluations[0]["iteration"]), accuracy)
                yield Reading(*about, *(_means(published[name]) for name in ("pairs", "itself")))


def _means(pairs: list[dict[str, Any]]) -> dict[str, float]:
    return {metric: float(np.mean([pair[metric] for pair in pairs])) for metric in ("coded_pd", "relative_pd", "churn")}
