"""Arms trained under the published protocol, each read both ways: as published and correctly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from actlab.records.repro import ArmResults, matrix
from actlab.records.store import Record
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval, pair_mean


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

    def _pairs(self, pairs: Iterable[Record], metric: str) -> Estimate:
        return pair_mean(matrix(self.arm.done, pairs, metric))


def readings(records: Iterable[Record]) -> dict[tuple[str, str], Reading]:
    """The arms that carry the published reading."""
    chosen = (record for record in records if record["kind"] == "trials" and "as_published" in record)
    return {(record["model_name"], record["activation"]): Reading(ArmResults(record)) for record in chosen}
