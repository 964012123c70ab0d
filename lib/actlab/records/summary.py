"""From the tables of a study to estimates of every arm, tests against a reference, and comparisons of two studies.
Draws nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from actlab.errors import BadInput
from actlab.records.repro import ORDER
from actlab.records.settings import MAIN, natural
from actlab.records.tables import COLUMNS, factors
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval, pair_mean, pair_mean_difference, paired_difference
from actlab.statistics.tests import holm, welch

PAIR_METRICS = ("relative_pd", "total_variation", "churn", "jensen_shannon", "label_pd")
TRIAL_METRICS = ("val_loss", "best_val_loss", "val_accuracy", "test_accuracy")
SHORT = {"hidden": "h", "learning_rate": "lr", "batch_size": "b", "rate_factor": "x"}
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Arm:
    """One arm of the tables: its group, its level of the factor that the study compares, and the numbers of its
    seeds."""

    group: str
    level: str
    trials: pd.DataFrame
    pairs: pd.DataFrame

    @property
    def seeds(self) -> list[int]:
        """Of the trials that are done."""
        return sorted(int(seed) for seed in self.trials.loc[self.trials["status"] == "done", "seed"])

    @property
    def metrics(self) -> list[str]:
        """What was measured: of pairs, a user's own ones among them, then of trials."""
        own = [name for name in self.pairs if name not in COLUMNS and self.pairs[name].notna().any()]
        return [
            *(name for name in PAIR_METRICS if name in self.pairs),
            *own,
            *(name for name in TRIAL_METRICS if name in self.trials),
        ]

    def values(self, metric: str, seeds: Sequence[int] | None = None) -> Values:
        """(n,) a trial metric by seed; (n, n) symmetric of a pair metric, NaN on its diagonal."""
        seeds = self.seeds if seeds is None else seeds
        if not of_pairs(metric):
            return self.trials.set_index("seed")[metric].reindex(list(seeds)).to_numpy(float)
        place = {str(seed): i for i, seed in enumerate(seeds)}
        out = np.full((len(seeds), len(seeds)), np.nan)
        for first, second, value in zip(self.pairs["first"], self.pairs["second"], self.pairs[metric], strict=True):
            if first in place and second in place:
                out[place[first], place[second]] = out[place[second], place[first]] = value
        return out

    def estimate(self, metric: str) -> Estimate:
        """Mean with a 95% interval over trials: t for a trial metric, jackknife over trials for a pair metric."""
        interval: Callable[[Any], Estimate] = pair_mean if of_pairs(metric) else mean_interval
        return interval(self.values(metric))

    def minus(self, other: Arm, metric: str) -> tuple[Estimate, float]:
        """Difference and p-value: paired over shared seeds; without two of them, by Welch's test of the trials; NaN
        where neither can be made."""
        shared = sorted(set(self.seeds) & set(other.seeds))
        if len(shared) > 1 or of_pairs(metric):
            difference: Callable[[Any, Any], Estimate] = pair_mean_difference if of_pairs(metric) else paired_difference
            found = difference(self.values(metric, shared), other.values(metric, shared))
            return found, float("nan") if np.isnan(found.low) else found.p_value()
        return welch(self.values(metric), other.values(metric))


def of_pairs(metric: str) -> bool:
    """Whether a metric is one of pairs; a user's own metrics are."""
    return metric not in TRIAL_METRICS


def measured(found: Sequence[Arm]) -> list[str]:
    """The metrics of some arms, in their order."""
    return list(dict.fromkeys(metric for arm in found for metric in arm.metrics))


def arms(trials: pd.DataFrame, pairs: pd.DataFrame) -> list[Arm]:
    """The arms of a study's tables, noise floors and perturbed trials left out."""
    main = trials[trials["kind"].isin(MAIN)]
    rows = main.groupby("record", sort=False)
    found = [_arm(own, pairs[pairs["record"] == record] if len(pairs) else pairs) for record, own in rows]
    return sorted(found, key=lambda arm: [_place(arm.group), _place(arm.level)])


def _place(name: str) -> tuple[int, Any]:
    """The studies' own order, then that of names with the numbers in them rising."""
    first = name.partition(",")[0].partition(" ")[0]
    return ORDER.index(first) if first in ORDER else len(ORDER), natural(name)


def _arm(rows: pd.DataFrame, pairs: pd.DataFrame) -> Arm:
    first = rows.iloc[0]
    others, series = factors(str(first["kind"]))
    group = [f"{SHORT[name]}{first[name]:g}" if name in SHORT else str(first[name]) for name in others]
    used = f" (ignored: {first['activation_used']})" if first["activation_used"] != first["activation"] else ""
    return Arm(
        ", ".join([*group, *([first["setting"]] if first["setting"] else [])]), f"{first[series]}{used}", rows, pairs
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
            found, p = arm.minus(other, metric)
            yield {"group": group, "difference": difference, "metric": metric, **_numbers(found), "p": p}
