"""Sources of irreproducibility as read from records: arms in which one random stream varies, perturbed trials,
ensembles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from actlab.records import repro
from actlab.records.families import Tested, tested
from actlab.records.repro import ArmResults, Grid, mean_of_pairs
from actlab.records.settings import usual
from actlab.records.store import Record
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import jackknife, paired_difference
from actlab.statistics.significance import REFERENCE

STREAMS = {"all": "every stream", "init": "initial weights", "order": "order of batches", "dropout": "dropout masks"}
SMOOTH = ("gelu", "smelu_1")
METRIC = "total_variation"


@dataclass(frozen=True)
class Sources:
    """A study in which one random stream varies at a time, then all."""

    grids: dict[str, Grid]
    """Model -> its arms, a row a stream (``ArmResults.varies``), with the grid whose family decides where an arm has
    its trials."""
    perturbed: dict[tuple[str, str], Record]
    """(model, activation) -> the record of its perturbed trials."""

    def arms(self, stream: str = "all") -> list[ArmResults]:
        """Of every model and activation, the arm in which that stream varies."""
        return [arm for grid in self.grids.values() for arm in grid.arms.values() if arm.varies == stream]

    def tests(self) -> list[Tested]:
        """Every activation minus relu under every stream; a family is a model's."""
        return [test for grid in self.grids.values() for test in tested(grid, METRIC)]

    def perturbation(self, model: str, activation: str, variant: str) -> NDArray[np.float64]:
        """(seeds,) total variation between each seed's trial and the same seed changed."""
        pairs = repro.changed(self.perturbed.get((model, activation)), variant).values()
        return np.array([float(pair[METRIC]) for pair in pairs])

    def floors(self) -> dict[tuple[str, str], float]:
        """(model, activation) -> total variation of the first seed's trial and the same seed after 1 ULP."""
        return {cell: float(self.perturbation(*cell, "nudge")[0]) for cell in self.perturbed}

    def amplifications(self) -> list[Estimate]:
        """``amplification`` of every model and smooth activation whose perturbed trials and relu's are recorded."""
        cells = ((m, a) for m in self.grids for a in SMOOTH if {(m, a), (m, REFERENCE)} <= {*self.perturbed})
        return [amplification(self, *cell) for cell in cells]


def read(records: Iterable[Record], primary: Grid | None = None) -> Sources:
    """A study of sources, at the settings that most of its arms share, with the grid that it quotes; an empty one from
    no record. An arm whose runs are all alike has no such stream (dropout masks at a rate of 0), and is left out."""
    found = usual(records, apart=("varies",))
    by_model: dict[str, list[Record]] = {}
    for record in found:
        if record["kind"] == "trials" and any(pair[METRIC] for pair in record["reproducibility_metrics"]):
            by_model.setdefault(record["model_name"], []).append(record)
    grids = {model: replace(repro.read(arms), primary=primary) for model, arms in by_model.items()}
    return Sources(grids, {(r["model_name"], r["activation"]): r for r in found if r["kind"] == "perturbed"})


# --- ensembles and perturbations -------------------------------------------------------------------------------------


def _pairs(arm: ArmResults, size: int) -> list[Record]:
    """Of disjoint ensembles; of size 1 the ordinary pairs."""
    return list(arm.record["reproducibility_metrics"] if size == 1 else arm.record["ensembles"][str(size)])


def ensembles(arm: ArmResults) -> dict[int, Estimate]:
    """Size -> mean over pairs of disjoint ensembles, with a jackknife over trials; size 1 are the ordinary pairs."""
    sizes = [1, *map(int, arm.record.get("ensembles", {}))]
    return {n: jackknife(partial(mean_of_pairs, _pairs(arm, n), METRIC), np.array(arm.done)) for n in sizes}


def ensemble_gain(arm: ArmResults, size: int) -> Estimate:
    """Single trials minus ensembles of ``size``; the jackknife leaves one trial at a time out of both. Positive: the
    ensemble agrees more."""
    single, larger = _pairs(arm, 1), _pairs(arm, size)
    return jackknife(
        lambda kept: mean_of_pairs(single, METRIC, kept) - mean_of_pairs(larger, METRIC, kept), np.array(arm.done)
    )


def amplification(sources: Sources, model: str, activation: str) -> Estimate:
    """relu minus another activation in log10 total variation after a 1-ULP perturbation, paired by seed; NaN where a
    value is 0 (it has no logarithm)."""
    found = [repro.changed(sources.perturbed.get((model, a)), "nudge") for a in (REFERENCE, activation)]
    values = np.array([[of[seed][METRIC] for seed in found[0] if seed in found[1]] for of in found], float)
    return paired_difference(*np.log10(np.where(values > 0, values, np.nan)))
