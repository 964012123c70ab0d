"""The explorer's numbers: every estimate of a study's arms and every difference between two, by the moment in training,
the metric and the place of the arm or pair."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from actlab.records import settings as recorded
from actlab.records import tables
from actlab.records.labels import PAIR_METRICS, in_points, of_trials
from actlab.statistics.arms import Arm, arm_of, interval_of
from actlab.statistics.equal_loss import Curves, arms_of, at_level, shared_runs
from actlab.statistics.estimate import Array, summary
from actlab.statistics.significance import holm

THROUGH = ("total_variation", "churn")
"""The metrics of pairs that can be followed through training."""
LEVELS = tuple(range(0, 100, 10))
"""Percent of the way from the lowest loss that all arms reach to the first, at which they are compared."""


class Pair(NamedTuple):
    """Two arms that differ in one factor alone."""

    first: int
    """Its place among the arms."""
    second: int
    family: str | None
    """Of the first minus the second, named by the factor and the second's level."""


def numbers_of(
    named: Sequence[tables.Arm],
    again: Sequence[tables.Arm],
    metrics: Sequence[str],
    pairs: Sequence[Pair],
    bigram: float,
) -> dict[str, Any]:
    """By moment, metric and place of the arm: ``found``, an estimate; ``singles``, one value a trial or, of a metric of
    pairs, a pair (the upper triangle, row by row); by moment, metric and place of the pair: ``differences``. A moment
    is the end of training, one bit (the same seed after a perturbation by one ULP; geometric means) or a level of loss.
    By the arm's place: ``along``, means in training; ``drift``, how far a run and the same seed after one bit are
    apart, mean over ``n`` seeds. Shares are in %."""
    count = len(named)
    trials, ends, curves = tables.trials_of(named), in_points(tables.pairs_of(named)), tables.curves_of(named)
    along = in_points(tables.pairs_of([one for one in named if one[0].get("trajectory")], "along"))
    runs = _of_each(trials.assign(seed=trials["trial"]), count)  # named as in the pairs
    of_pairs = _of_each(ends, count)
    found, singles, differences = (defaultdict[str, dict[str, list[Any]]](dict) for _ in range(3))
    for metric in metrics:
        rows, size = (runs, 1) if of_trials(metric) else (of_pairs, 2)
        arms = [arm_of(own, metric, (i,)) for i, own in enumerate(rows)]
        found["end"][metric] = [interval_of(arm, size == 2)[:4] for arm in arms]
        singles["end"][metric] = [
            _singles(arm, recorded.labels_of(of), size) for arm, (of, _) in zip(arms, named, strict=True)
        ]
        differences["end"][metric] = _differences(arms, pairs)
    changed = in_points(tables.pairs_of(again))
    moved = changed[changed["second"].astype(str).str.endswith("-nudge")]
    for metric in PAIR_METRICS if len(moved) else ():
        values = [own[metric].tolist() for own in _of_each(moved, count)]
        found["one bit"][metric] = [_geometric(own) if own else None for own in values]
        singles["one bit"][metric] = [own if len(own) > 1 else [] for own in values]
    followed = curves[curves["record"].isin(along["record"])]
    for metric in THROUGH:
        if read := arms_of(followed, along, metric, ["setting", "record"], bigram)[0]:
            for level, means, losses, minus in _at_losses(read, count, pairs):
                found[level] |= {metric: means, "val_loss": losses}
                differences[level][metric] = minus
    course = pd.concat([curves, along]).groupby(["record", "iteration"], as_index=False)[["val_loss", *THROUGH]].mean()
    return {
        "found": found,
        "singles": singles,
        "differences": differences,
        "along": [own.dropna(axis=1, how="all").to_dict("list") for own in _of_each(course, count)],
        "drift": [own.to_dict("list") for own in _of_each(_drift(again), count)],
    }


def _of_each(table: pd.DataFrame, count: int) -> list[pd.DataFrame]:
    """Each arm's rows."""
    rows = dict(iter(table.groupby("record")))
    return [rows.get(i, table[:0]) for i in range(count)]


def _singles(arm: Arm, labels: Sequence[str], size: int) -> list[float | None]:
    """One value a trial, or a pair of trials."""
    values = dict(zip(arm.members, arm.values, strict=True))
    return [values.get(frozenset(runs)) for runs in combinations(labels, size)]


def _geometric(values: Sequence[float]) -> list[float]:
    """[geometric mean, its limits, n] of a value a seed; an exact 0 makes it 0, without limits."""
    if min(values) <= 0:
        return [0.0, math.nan, math.nan, len(values)]
    arm = Arm(np.log(values), [frozenset({str(i)}) for i in range(len(values))])
    return [*map(math.exp, interval_of(arm, False)[:3]), len(values)]


def _drift(again: Sequence[tables.Arm]) -> pd.DataFrame:
    """How far a run and the same seed after one bit are apart in training, a row an arm and iteration."""
    run = ["record", "iteration", "seed"]
    curves = tables.curves_of(again).reindex(columns=[*run, "variant", "val_loss"]).fillna({"variant": "none"})
    wide = curves.pivot_table("val_loss", run, "variant").reindex(columns=["none", "nudge"])
    apart = (wide["nudge"] - wide["none"]).abs()
    return apart.dropna().groupby(run[:2]).agg(val_loss="mean", n="count").reset_index()


def _differences(arms: Sequence[Arm], pairs: Sequence[Pair]) -> list[Any]:
    """First - second (``_tested``), each over the runs that both have."""
    without = cache(lambda place, runs: arms[place].without_one(runs))
    values = []
    for pair in pairs:
        theirs = arms[pair.second].runs
        shared = tuple(run for run in arms[pair.first].runs if run in theirs)
        values.append(without(pair.first, shared) - without(pair.second, shared))
    return _tested(pairs, values)


def _tested(pairs: Sequence[Pair], values: Iterable[Array]) -> list[Any]:
    """[value, half of its interval, n, p] of differences and again without each run; p is adjusted by Holm over its
    family, to a millionth (NaN where it has none). What stands there turned round has its p alone."""
    found = [summary(one) for one in values]
    p = pd.Series([one.p for one in found], dtype=float)
    adjusted = p.groupby([pair.family for pair in pairs]).transform(holm).round(6).clip(1e-6)
    rows = []
    for pair, one, own in zip(pairs, found, adjusted, strict=True):
        told = [one.estimate, (one.high - one.low) / 2, one.n] if pair.first < pair.second else []
        rows.append([*told, own])
    return rows


def _at_losses(
    arms: Mapping[Any, Curves], count: int, pairs: Sequence[Pair]
) -> Iterator[tuple[str, list[Any], list[Any], list[Any]]]:
    """A level of loss, each arm's estimate there and its loss, and the differences (``_tested``) of the arms of each
    group, which share their seeds (``statistics.equal_loss``)."""
    groups = dict[str, dict[int, Curves]]()
    for (group, i), arm in arms.items():
        groups.setdefault(group, {})[i] = arm
    none = np.array([math.nan])
    for level in LEVELS:
        own, losses = [none] * count, [[math.nan]] * count
        minus = dict[tuple[int, ...], Array]()
        for curves in groups.values():
            values, loss = at_level([*curves.values()], shared_runs(curves.values()), level / 100)
            for i, one in zip(curves, values.T, strict=True):  # (1 + M,) each
                own[i], losses[i] = one, [loss[0]]
            minus |= {(i, j): own[i] - own[j] for i, j in permutations(curves, 2)}
        means = [[one.estimate, one.low, one.high, one.n] for one in map(summary, own)]
        of_pairs = [minus.get((pair.first, pair.second), none) for pair in pairs]
        yield str(level), means, losses, _tested(pairs, of_pairs)
