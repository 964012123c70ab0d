"""Any study's arms by group and level: estimates of every metric, tests against a reference, comparisons of two
studies. Draws nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from actlab.errors import BadInput
from actlab.records.labels import IMAGE_METRICS, PAIR_METRICS, TRIAL_METRICS, of_trials
from actlab.records.repro import ArmResults
from actlab.records.settings import MAIN, ORDER, cell_of, differing, kind_of, named, natural
from actlab.records.store import Record
from actlab.records.tables import COLUMNS, factors, of_records, used
from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import Test, holm, welch

SHORT = {"hidden": "h", "learning_rate": "lr", "batch_size": "b", "rate_factor": "x"}


@dataclass(frozen=True)
class Arm(ArmResults):
    """An arm of a study of any kind."""

    group: str = ""
    """Its levels of all factors but one, and what else tells it from others."""
    level: str = ""
    """Its level of the factor that the study compares."""
    metrics: tuple[str, ...] = ()
    """What the study measured: of pairs, a user's own ones among them, then of trials."""

    def tested(self, other: Arm, metric: str) -> Test:
        """Difference from another arm and p-value: paired over shared seeds; without two of them, by Welch's test of
        the trials; NaN where neither can be made."""
        found = self.minus(other, metric)
        if found.n > 1 or not of_trials(metric):
            return found, float("nan") if np.isnan(found.low) else found.p_value()
        return welch(self.values(metric), other.values(metric))


def arms(records: Iterable[Record]) -> list[Arm]:
    """The arms of a study's records, noise floors and perturbed trials left out."""
    known = [record for record in records if kind_of(record)]
    trials, pairs = of_records(known)
    own = [name for name in pairs if name not in COLUMNS]
    metrics = [m for m in (*PAIR_METRICS, *own, *TRIAL_METRICS, *IMAGE_METRICS) if m in trials or m in pairs]
    names = differing(known)
    found = [_arm(record, named(record, names), tuple(metrics)) for record in known if record["kind"] in MAIN]
    return sorted(found, key=lambda arm: [_place(arm.group), _place(arm.level)])


def _place(name: str) -> tuple[int, Any]:
    """The studies' own order, then that of names with the numbers in them rising."""
    first = name.partition(",")[0].partition(" ")[0]
    return ORDER.index(first) if first in ORDER else len(ORDER), natural(name)


def _arm(record: Record, setting: str, metrics: tuple[str, ...]) -> Arm:
    others, series = factors(str(record["kind"]))
    cell, real = cell_of(record), used(record)
    group = [f"{SHORT[name]}{cell[name]:g}" if name in SHORT else str(cell[name]) for name in others]
    ignored = f" (ignored: {real})" if real != record["activation"] else ""
    where = ", ".join([*group, *([setting] if setting else [])])
    return Arm(record, group=where, level=f"{cell[series]}{ignored}", metrics=metrics)


def estimates(found: Sequence[Arm]) -> pd.DataFrame:
    """One row an arm and metric: group, level, metric, value, low, high (95%), n (trials)."""
    rows = [(arm, metric, arm.estimate(metric)) for arm in found for metric in arm.metrics]
    return pd.DataFrame([{"group": a.group, "level": a.level, "metric": m, **_numbers(e)} for a, m, e in rows])


def _numbers(e: Estimate) -> dict[str, object]:
    return {"value": e.value, "low": e.low, "high": e.high, "n": e.n, "method": e.method}


def reference_of(found: Sequence[Arm], wanted: str = "") -> str:
    """The level that the others are compared with: the one asked for, else relu, else gelu, else the first."""
    names = [arm.level for arm in found]
    if wanted and wanted not in names:
        raise BadInput(f"no arm {wanted!r} to compare with: known are {', '.join(sorted(set(names)))}")
    return next((name for name in (wanted, "relu", "gelu") if name in names), names[0] if names else "")


def against(found: Sequence[Arm], reference: str) -> pd.DataFrame:
    """Every arm minus the reference of its group; one row a difference: p, and p_holm, adjusted over all groups within
    a metric."""
    base = {arm.group: arm for arm in found if arm.level == reference}
    couples = [
        (arm, base[arm.group], arm.group, f"{arm.level} - {reference}")
        for arm in found
        if arm.level != reference and arm.group in base
    ]
    return _tested(couples)


def compare(first: Sequence[Arm], second: Sequence[Arm]) -> pd.DataFrame:
    """Arms that two studies share, second minus first, tested like ``against``.

    Raises:
        BadInput: they share none.
    """
    before = {(arm.group, arm.level): arm for arm in first}
    couples = [
        (arm, before[arm.group, arm.level], arm.group, arm.level) for arm in second if (arm.group, arm.level) in before
    ]
    if not couples:
        told = (", ".join(sorted(f"{arm.group} {arm.level}" for arm in found)) for found in (first, second))
        raise BadInput(f"the studies share no arm: one has {next(told)}; the other {next(told)}")
    return _tested(couples)


def _tested(couples: Sequence[tuple[Arm, Arm, str, str]]) -> pd.DataFrame:
    found = pd.DataFrame([row for couple in couples for row in _rows(*couple)])
    if len(found):
        found["p_holm"] = found.groupby("metric")["p"].transform(lambda p: holm(p.to_numpy(float)))
    return found


def _rows(arm: Arm, other: Arm, group: str, difference: str) -> Iterator[dict[str, object]]:
    for metric in arm.metrics:
        if metric in other.metrics:
            found, p = arm.tested(other, metric)
            yield {"group": group, "difference": difference, "metric": metric, **_numbers(found), "p": p}
