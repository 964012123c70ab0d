"""What the autopsy reads: arms trained under the published protocol, each read both ways, and the corrected arms at the
same scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from actlab.records import store
from actlab.records.repro import ArmResults, Grid, matrix, read
from actlab.records.settings import usual
from actlab.records.store import Record
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval, pair_mean

STUDIES = ("autopsy-swiglu", "autopsy-models", "autopsy-convlm")
CORRECTED, LONGER, ALONE, OVERFIT = OTHERS = "repro-lite", "tinylstm-long", "autopsy", "autopsy-overfit"
READ = (*STUDIES, *OTHERS)
"""Every study that is read."""


@dataclass(frozen=True)
class Reading:
    """An arm whose trials were measured as published and correctly. ``iteration``: one of ``iterations``; the end
    unless given."""

    arm: ArmResults

    @property
    def defects(self) -> list[str]:
        """Names of those that were on."""
        return list(self.arm.record["config"]["protocol"])

    @property
    def iterations(self) -> list[int]:
        """The snapshots and the end, rising."""
        return [*self.arm.snapshots]

    @property
    def end(self) -> int:
        """The last iteration."""
        return self.iterations[-1]

    def _at(self, iteration: int | None) -> Record:
        return self.arm.snapshots[self.end if iteration is None else iteration]

    def between(self, metric: str = "coded_pd", iteration: int | None = None) -> Estimate:
        """Two seeds on different inputs, as published, with a jackknife over trials."""
        return self._pairs(self._at(iteration)["as_published"]["pairs"], metric)

    def itself(self, metric: str = "coded_pd", iteration: int | None = None) -> Estimate:
        """One model against itself on different inputs, with a t interval over trials."""
        return mean_interval([pair[metric] for pair in self._at(iteration)["as_published"]["itself"]])

    def paired(self, iteration: int | None = None) -> Estimate:
        """Total variation of two seeds on the same inputs, with a jackknife over trials."""
        return self._pairs(self._at(iteration)["pairs"], "total_variation")

    def value(self, name: str, iteration: int | None = None) -> Estimate:
        """``train_loss``, ``val_loss`` or ``val_accuracy`` on all positions, with a t interval over trials."""
        return mean_interval([trial[name] for trial in self._at(iteration)["trials"]])

    def published(self) -> Estimate:
        """Accuracy at the end (%), as the reference study's code measures it."""
        return mean_interval([trial["val_accuracy"] for trial in self._at(None)["as_published"]["trials"]])

    def _pairs(self, pairs: Iterable[Record], metric: str) -> Estimate:
        return pair_mean(matrix(self.arm.done, pairs, metric))


@dataclass(frozen=True)
class Autopsy:
    """Readings by (model, activation); the corrected grid; the longer run of tinylstm; arms whose activation was
    ignored and nothing else wrong; arms that overfit a small text."""

    on: dict[tuple[str, str], Reading]
    off: Grid
    longer: Grid
    ignored: Grid
    overfit: Grid


def gather() -> Autopsy:
    """Everything that is recorded."""
    grids = (read(usual(store.load_study(study))) for study in OTHERS)
    return Autopsy(readings(r for study in STUDIES for r in store.load_study(study)), *grids)


def readings(records: Iterable[Record]) -> dict[tuple[str, str], Reading]:
    """The arms that carry the published reading."""
    chosen = (record for record in records if record["kind"] == "trials" and "as_published" in record)
    return {(record["model_name"], record["activation"]): Reading(ArmResults(record)) for record in chosen}
