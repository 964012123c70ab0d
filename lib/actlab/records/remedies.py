"""Remedies against one plain network at equal training compute: ensembles of shorter runs, averaged weights, a falling
learning rate.

What two runs of an arm still differ by under each, and what it costs in loss; a positive difference is the remedy's
higher value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from actlab.records.repro import ArmResults, mean_of_pairs, shared
from actlab.records.store import Record
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import Chosen, jackknife, paired_difference

ENSEMBLE, AVERAGED, FALLING = "ensemble of {}", "averaged weights", "falling rate"


@dataclass(frozen=True)
class Remedy:
    """One remedy of one arm."""

    plain: ArmResults
    """The arm's single networks at a constant rate."""
    pairs: list[Record]
    """What every two remedied networks differ by; ``between`` names the trials that each is made of."""
    seeds: Chosen
    """The trials that both have."""
    loss: Estimate
    """Validation loss minus one plain network's, by shared trials."""

    def minus_plain(self, seeds: Chosen) -> float:
        """Mean total variation of what these trials give, minus that of their single networks."""
        metric = "total_variation"
        return mean_of_pairs(self.pairs, metric, seeds) - self.plain.mean(metric, seeds)

    @property
    def variation(self) -> Estimate:
        """Total variation minus one plain network's; no interval where a seed less leaves no two ensembles."""
        return jackknife(self.minus_plain, self.seeds)


def remedies(arm: ArmResults, falling: ArmResults | None = None) -> dict[str, Remedy]:
    """Every remedy that an arm's record measures, by its name, and the falling rate's where its record is given.

    An ensemble's loss is that of its mean probabilities on the frozen windows, minus its members' as single networks
    there: one value a disjoint ensemble.
    """
    seeds, found = shared([arm]), {}
    single, *ensembles = arm.record.get("equal_compute") or [{"losses": []}]
    alone = {entry["of"][0]: entry["loss"] for entry in single["losses"]}
    for ensemble in (each for each in ensembles if each["losses"]):
        losses = [[entry["loss"], np.mean([alone[label] for label in entry["of"]])] for entry in ensemble["losses"]]
        found[ENSEMBLE.format(ensemble["size"])] = Remedy(
            arm, ensemble["pairs"], seeds, paired_difference(*np.transpose(losses))
        )
    if pairs := arm.record.get("average"):
        losses = [t.get("average", {}).get("val_loss", np.nan) for t in arm.record["trials"]]
        found[AVERAGED] = Remedy(arm, pairs, seeds, paired_difference(losses, arm.values("val_loss")))
    if falling:
        both = shared([arm, falling])
        found[FALLING] = Remedy(arm, falling.record["reproducibility_metrics"], both, falling.minus(arm, "val_loss"))
    return found


def by_name(found: Mapping[str, Mapping[str, Remedy]]) -> dict[str, dict[str, Remedy]]:
    """Remedy -> model -> it, from model -> remedy -> it."""
    names = dict.fromkeys(name for every in found.values() for name in every)
    return {name: {model: every[name] for model, every in found.items() if name in every} for name in names}
