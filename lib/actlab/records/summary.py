"""Any study's arms by group and level: estimates of every metric, tests against a reference, comparisons of two
studies. Draws nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from actlab.errors import BadInput
from actlab.records.labels import of_trials
from actlab.records.repro import ArmResults
from actlab.records.schema import check_record
from actlab.records.settings import MAIN, ORDER, cell_of, differing, kind_of, named, natural
from actlab.records.store import Record
from actlab.records.tables import COLUMNS, factors, used
from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import holm, welch

REPORTED_PAIRS = ("relative_pd", "total_variation", "churn", "jensen_shannon", "label_pd")
REPORTED_TRIALS = ("val_loss", "best_val_loss", "val_accuracy", "test_accuracy")
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

    def tested(self, other: Arm, metric: str) -> tuple[Estimate, float]:
        """Difference from another arm and p-value: paired over shared seeds; without two of them, by Welch's test of
        the trials; NaN where neither can be made."""
        found = self.minus(other, metric)
        if found.n > 1 or not of_trials(metric):
            return found, float("nan") if np.isnan(found.low) else found.p_value()
        return welch(self.values(metric), other.values(metric))


def measured(found: Sequence[Arm]) -> list[str]:
    """The metrics of some arms, in their order."""
    return list(dict.fromkeys(metric for arm in found for metric in arm.metrics))


def arms(records: Iterable[Record]) -> list[Arm]:
    """The arms of a study's records, noise floors and perturbed trials left out."""
    known = [record for record in records if kind_of(record)]
    for record in known:
        check_record(record)
    names, pairs, finals = differing(known), _keys(known, "pairs"), _keys(known, "finals")
    found = []
    for record in (record for record in known if record["kind"] in MAIN):
        own = [name for name in _keys([record], "pairs") if name not in COLUMNS and name not in ("between", "blocks")]
        metrics = [n for n in REPORTED_PAIRS if n in pairs] + own + [n for n in REPORTED_TRIALS if n in finals]
        found.append(_arm(record, named(record, names), tuple(metrics)))
    return sorted(found, key=lambda arm: [_place(arm.group), _place(arm.level)])


def _keys(records: Iterable[Record], what: str) -> dict[str, None]:
    """The names of what was measured of pairs, or of trials that ended well."""
    if what == "pairs":
        return dict.fromkeys(name for r in records for pair in r.get("reproducibility_metrics", []) for name in pair)
    done = [trial for record in records for trial in record["trials"] if trial["status"] == "done"]
    finals = dict.fromkeys(name for trial in done for name in trial.get("final", trial))
    return finals | dict.fromkeys("best_val_loss" for trial in done if "best" in trial)


def _place(name: str) -> tuple[int, Any]:
    """The studies' own order, then that of names with the numbers in them rising."""
    first = name.partition(",")[0].partition(" ")[0]
    return ORDER.index(first) if first in ORDER else len(ORDER), natural(name)


def _arm(record: Record, setting: str, metrics: tuple[str, ...]) -> Arm:
    others, series = factors(str(record["kind"]))
    cell, real = cell_of(record), used(record)
    group = [f"{SHORT[name]}{cell[name]:g}" if name in SHORT else str(cell[name]) for name in others]
    ignored = f" (ignored: {real})" if real != record["activation"] else ""
    return Arm(
        record,
        group=", ".join([*group, *([setting] if setting else [])]),
        level=f"{cell[series]}{ignored}",
        metrics=metrics,
    )


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
    tables = [
        pd.DataFrame(rows)
        for metric in measured([arm for arm, *_ in couples])
        if (rows := list(_rows(couples, metric)))
    ]
    for table in tables:
        table["p_holm"] = holm(table["p"].to_numpy(float))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _rows(couples: Sequence[tuple[Arm, Arm, str, str]], metric: str) -> Iterator[dict[str, object]]:
    for arm, other, group, difference in couples:
        if metric in arm.metrics and metric in other.metrics:
            found, p = arm.tested(other, metric)
            yield {"group": group, "difference": difference, "metric": metric, **_numbers(found), "p": p}
