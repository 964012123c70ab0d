"""Any study's arms beside each other: estimates of every metric, tests against a reference, comparisons of two
studies. Draws nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from actlab.errors import BadInput
from actlab.records.labels import of_trials
from actlab.records.repro import ArmResults, Grid
from actlab.statistics.significance import Test, holm, welch

Couple = tuple[ArmResults, ArmResults, str]
"""An arm, the one that it is compared with, and what to call the difference."""


def estimates(grid: Grid) -> pd.DataFrame:
    """One row an arm and metric: group, level, metric, value, low, high (95%), n (trials)."""
    rows = [
        {"group": arm.model, "level": arm.level, "metric": metric, **vars(arm.shown(metric))}
        for arm in grid.arms.values()
        for metric in grid.metrics
    ]
    return pd.DataFrame(rows)


def reference_of(grid: Grid, wanted: str = "") -> str:
    """The level that the others are compared with: the one asked for, else relu, else gelu, else the first."""
    if wanted and wanted not in grid.activations:
        known = ", ".join(sorted(grid.activations))
        raise BadInput(f"no arm {wanted!r} to compare with: known are {known}")
    return next(name for name in (wanted, "relu", "gelu", *grid.activations) if name in grid.activations)


def against(grid: Grid, reference: str) -> pd.DataFrame:
    """Every arm minus the reference of its group; one row a difference: p, and p_holm, adjusted over all groups within
    a metric."""
    couples = [(arm, other, f"{arm.level} - {reference}") for arm, other in grid.couples(reference).values()]
    return _tested(couples, grid.metrics)


def compare(first: Grid, second: Grid) -> pd.DataFrame:
    """Arms that two studies share, second minus first, tested like ``against``.

    Raises:
        BadInput: they share none.
    """
    couples = [(arm, first.arms[cell], arm.level) for cell, arm in second.arms.items() if cell in first.arms]
    if not couples:
        told = (", ".join(sorted(map(" ".join, grid.arms))) for grid in (first, second))
        raise BadInput(f"the studies share no arm: one has {next(told)}; the other {next(told)}")
    return _tested(couples, [metric for metric in first.metrics if metric in second.metrics])


def _tested(couples: Sequence[Couple], metrics: Iterable[str]) -> pd.DataFrame:
    rows = [
        {"group": arm.model, "difference": difference, "metric": metric, **vars(found), "p": p}
        for arm, other, difference in couples
        for metric in metrics
        for found, p in [tested(arm, other, metric)]
    ]
    found = pd.DataFrame(rows)
    if len(found):
        found["p_holm"] = found.groupby("metric")["p"].transform(lambda p: holm(p.to_numpy(float)))
    return found


def tested(arm: ArmResults, other: ArmResults, metric: str) -> Test:
    """Difference from another arm and p-value: paired over shared seeds; without two of them, by Welch's test of the
    trials; NaN where neither can be made."""
    found = arm.minus(other, metric)
    if found.n > 1 or not of_trials(metric):
        return found, float("nan") if np.isnan(found.low) else found.p_value()
    return welch(arm.values(metric), other.values(metric))
