"""What the explorer shows, published and live: every estimate of every study as plain values, so that a page only
draws. No torch."""

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from pathlib import Path
from re import fullmatch, split, sub
from typing import Any

import numpy as np
import pandas as pd

from actlab.figures.style import looks
from actlab.files import read_yaml
from actlab.records import find, store, tables
from actlab.records import settings as recorded
from actlab.records.labels import EVERY, METRICS, PAIR_METRICS, of_trials
from actlab.records.settings import factors, in_order
from actlab.records.store import Record
from actlab.statistics.arms import Arm, arm_of, interval_of
from actlab.statistics.equal_loss import Curves, arms_of, at_level, shared_runs
from actlab.statistics.estimate import Array, summary
from actlab.statistics.significance import holm

_FILE, WORDS = (read_yaml(Path(__file__).with_name(f"{name}.yaml")) for name in ("studies", "words"))
TITLES = {
    name: {"group": group, "title": title} for group, names in _FILE["groups"].items() for name, title in names.items()
}
KINDS: dict[str, list[str]] = _FILE["kinds"]
THROUGH = ("total_variation", "churn")
"""The metrics of pairs that can be followed through training."""
LEVELS = tuple(range(0, 100, 10))
"""Percent of the way from the lowest loss that all arms reach to the first, at which they are compared."""
NEAR = 7
"""With how many levels before it a level of a further factor is compared, beside the first, so that the number of
differences grows as the arms'; eight levels and fewer are all compared."""
DIGITS = 5
"""Significant ones of a number on the page."""


def studies(names: Sequence[str] | None = None) -> dict[str, Any]:
    """The catalogue of the studies in the results folder; ``names`` (folders) chooses among them.

    Raises:
        BadInput: a folder without trials, or none of that name.
    """
    found = of_records({name: tables.load_records(name) for name in names} if names else find.every())
    for name, study in found["studies"].items():
        if texts := [text_of(record) for record in store.load_texts(name)]:
            study |= {"texts": texts, "views": study["views"] | {"texts": [*study["metrics"]]}}
    return found


def of_records(folders: Mapping[str, Sequence[Record]]) -> dict[str, Any]:
    """Everything that the explorer needs of some folders' records, as plain values; a folder with nothing to explore is
    left out."""
    names = [*(name for name in TITLES if name in folders), *sorted({*folders} - {*TITLES})]
    found = {name: _study(name, folders[name]) for name in names}
    shown = {name: study for name, study in found.items() if study}
    presets = [[words, state] for words, state in _FILE["presets"] if state["study"] in shown]
    return dict(_plain({"studies": shown, "presets": presets, "words": WORDS}))


Pair = tuple[int, int, list[str | None]]
"""The places of two arms that differ in one factor alone; the families of their difference, named by the factor and the
level from which all others differ: of the second's level, and of the first's."""


def _study(name: str, records: Sequence[Record]) -> dict[str, Any]:
    kind = next((kind for kind in KINDS if any(record["kind"] == kind for record in records)), "")
    if not kind:
        return {}
    apart, names, series = recorded.differing(records), KINDS[kind] or list(METRICS), factors(kind)[1]
    main = [(_at(record, apart), record) for record in records if record["kind"] == kind]
    levels = {factor: in_order({at[factor] for at, _ in main}) for factor in main[0][0]}
    main.sort(key=lambda one: [levels[factor].index(level) for factor, level in one[0].items()])
    again = [(_at(record, apart), record) for record in records if record["kind"] in ("floor", "perturbed")]
    places, arms = zip(*main, strict=True)
    pairs = _pairs(places, series)
    named = [
        (arm, {"record": i, "setting": f"{at | {series: ''}} {recorded.labels_of(arm)}"})
        for i, (at, arm) in enumerate(main)
    ]
    trials, ends, curves = tables.trials_of(named), tables.pairs_of(named), tables.curves_of(named)
    along = tables.pairs_of([one for one in named if one[0].get("trajectory")], "along")
    runs = trials.assign(seed=trials["trial"])  # named as in the pairs
    measured = {name: _measured(runs if of_trials(name) else ends, name, len(arms)) for name in names}
    course = pd.concat([curves, along]).groupby(["record", "iteration"], as_index=False)[["val_loss", *THROUGH]].mean()
    drawn = [
        {"at": at, "key": "/".join(at.values()), "setting": recorded.named(arm, apart)}
        | _arm(arm, {name: every[i] for name, every in measured.items()}, [r for place, r in again if place == at])
        | {"along": course.loc[course["record"] == i, _along(arm)].to_dict("list")}
        for i, (at, arm) in enumerate(main)
    ]
    bigram = next((record["bigram"]["val_loss"] for record in records if "bigram" in record), math.inf)
    followed = curves[curves["record"].isin(along["record"])]
    at_loss = {
        metric: _at_losses(read, len(arms), pairs)
        for metric in THROUGH
        if (read := arms_of(followed, along, metric, ["setting", "record"], bigram)[0])
    }
    moved = [name for name in names if any(name in arm["moved"] for arm in drawn)]
    cornered = len({arm["corner"] for arm in drawn} - {None}) > 3
    views = {
        "loss": [*at_loss],
        "values": names,
        "through": names,
        "ulp": moved,
        "drift": ["val_loss"] if any(arm["drift"] for arm in drawn) else [],
        "bend": moved[:1] if cornered else [],
        "two": names if pairs else [],
    }
    metrics = {name: EVERY[name].of_kind(kind) for name in names}
    return {
        **TITLES.get(name, {"group": "Your own studies", "title": name}),
        "reference": "relu" if "relu" in levels[series] else levels[series][0],
        "series": series,
        "others": [factor for factor in levels if factor != series],
        "cells": [*recorded.CELLS[kind], *(["setting"] if apart else [])],
        "factors": levels,
        "names": WORDS["views"]
        | {factor: _FILE["labels"].get(factor, factor.replace("_", " ")) for factor in levels}
        | {name: metric.label for name, metric in metrics.items()},
        "metrics": {name: {"note": m.note, "pairs": name in PAIR_METRICS} for name, m in metrics.items()},
        "styles": {
            level: {
                "colour": "currentColor" if colour == "#000000" else colour,  # the page's ink, also on a dark page
                "shape": _FILE["shapes"][marker],
                "dashes": " ".join(str(2 * n) for n in dashes) if dashes[1] else "none",
            }
            for level, (colour, marker, dashes) in looks(levels[series]).items()
        },
        "views": {view: shown for view, shown in views.items() if shown},
        "arms": drawn,
        "pairs": [pair[:2] for pair in pairs],
        "end": {name: _differences(every, pairs) for name, every in measured.items()},
        "equal": at_loss,
    }


def _alike(places: Sequence[dict[str, str]], factor: str) -> list[list[int]]:
    """The arms in groups that differ in this factor alone."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, at in enumerate(places):
        groups.setdefault(tuple((at | {factor: ""}).values()), []).append(i)
    return [*groups.values()]


def _pairs(places: Sequence[dict[str, str]], series: str) -> list[Pair]:
    """Those that differ in the series first."""
    found: list[Pair] = []
    for factor in sorted(places[0], key=lambda name: name != series):
        groups = _alike(places, factor)
        every = factor == series or max(map(len, groups)) <= NEAR + 1
        for group in groups:
            for (m, i), (n, j) in combinations(enumerate(group), 2):
                if every or m == 0 or n - m <= NEAR:
                    found.append((i, j, [f"{factor} {places[k][factor]}" if every else None for k in (j, i)]))
    return found


def _measured(table: pd.DataFrame, metric: str, count: int) -> list[Arm]:
    """Each arm's values of a metric, one a trial or one a pair."""
    rows = dict(iter(table.groupby("record")))
    return [arm_of(rows.get(i, table[:0]), metric, (i,)) for i in range(count)]


def _differences(arms: Sequence[Arm], pairs: Sequence[Pair]) -> list[Any]:
    """First - second (``_minus``), each over the runs that both have."""
    without = cache(lambda i, runs: arms[i].without_one(runs))
    shared = [tuple(run for run in arms[i].runs if run in arms[j].runs) for i, j, _ in pairs]
    return _minus(pairs, [without(i, of) - without(j, of) for (i, j, _), of in zip(pairs, shared, strict=True)])


def _minus(pairs: Sequence[Pair], values: Iterable[Array]) -> list[Any]:
    """Five columns, a place a pair, of differences and again without each run: the first, half of its interval, n, and
    its p-value adjusted by Holm over each of its two families, to a millionth (NaN where it has none)."""
    found = [summary(one) for one in values]
    p = pd.Series([one[-1] for one in found], dtype=float).repeat(2)
    adjusted = p.groupby([family for *_, both in pairs for family in both]).transform(holm).to_numpy().reshape(-1, 2)
    columns = zip(*((value, (high - low) / 2, n) for n, value, low, high, *_ in found), strict=True)
    return [*columns, *adjusted.T.round(6).clip(1e-6)]


def _at_losses(arms: Mapping[Any, Curves], count: int, pairs: Sequence[Pair]) -> list[tuple[list[Any], list[Any]]]:
    """At each level of loss: an estimate an arm, with the loss, and the differences (``_minus``), of the arms of each
    group, which share their seeds (``statistics.equal_loss``)."""
    groups = dict[str, dict[int, Curves]]()
    for (group, i), arm in arms.items():
        groups.setdefault(group, {})[i] = arm
    found, none = [], np.array([math.nan])
    for level in LEVELS:
        means, minus = [(*_estimate(none), math.nan)] * count, dict[tuple[int, ...], Array]()
        for curves in groups.values():
            values, losses = at_level([*curves.values()], shared_runs(curves.values()), level / 100)
            own = dict(zip(curves, values.T, strict=True))  # (1 + M,) each
            for i, one in own.items():
                means[i] = (*_estimate(one), losses[0])
            minus |= {(i, j): own[i] - own[j] for i, j in combinations(own, 2)}
        found.append((means, _minus(pairs, [minus.get(pair[:2], none) for pair in pairs])))
    return found


def _estimate(values: Array) -> tuple[float, float, float, int]:
    """(value, low, high, n) of a statistic's values of all trials and again without each."""
    n, value, low, high, *_ = summary(values)
    return value, low, high, n


def _at(record: Record, apart: Sequence[str]) -> dict[str, str]:
    """Factor -> the record's level, as text."""
    levels = recorded.cell_of(record) | recorded.values_of(record, apart)
    return {name: recorded.text(level) for name, level in levels.items()}


def _arm(record: Record, arms: Mapping[str, Arm], again: Iterable[Record]) -> dict[str, Any]:
    """One recorded arm: estimates and, of each metric, one value a trial or, where it is one of pairs, a pair (the
    upper triangle, row by row); of its repetitions ``moved``: the same seed after a perturbation by one ULP, mean and
    values, and ``drift``: how far the two runs are apart in training, mean over seeds."""
    labels, moved, drift = recorded.labels_of(record), list[Record](), dict[str, Any]()
    for other in again:
        if found := [pair for pair in other["reproducibility_metrics"] if pair["between"][1].endswith("-nudge")]:
            moved += found
            course = tables.curves_of([(other, {})]).pivot(index="iteration", columns="trial", values="val_loss")
            one, two = (course.reindex(columns=[pair["between"][of] for pair in found]).to_numpy() for of in (0, 1))
            drift = {"iteration": [*course.index], "val_loss": np.abs(two - one).mean(axis=1)}
    values = {name: dict(zip(arm.members, arm.values, strict=True)) for name, arm in arms.items()}
    ended = [f"{t['label']}: {t['status']}" for t in record["trials"] if t["status"] != "done"]
    return {
        "labels": labels,
        "singles": {
            name: [of.get(frozenset(runs)) for runs in combinations(labels, 2 - of_trials(name))]
            for name, of in values.items()
        },
        "end": {name: interval_of(arm, not of_trials(name))[:4] for name, arm in arms.items()},
        "ended": f" ({', '.join(ended)})" if ended else "",
        "moved": {name: _moved([pair[name] for pair in moved]) for name in PAIR_METRICS if moved},
        "corner": corner(str(record["activation"])) if moved else None,
        "drift": drift,
    }


def _along(record: Record) -> list[str]:
    """Columns of what was measured in training: of pairs where there are snapshots."""
    return ["iteration", "val_loss", *(THROUGH if record.get("trajectory") else ())]


def _moved(values: list[float]) -> list[Any]:
    """[an estimate without an interval, the values if there are several]."""
    return [(np.mean(values), math.nan, math.nan, len(values)), values if len(values) > 1 else []]


def corner(activation: str) -> float | None:
    """Half the width of a rounded corner: 0 of relu, none of what is no corner."""
    if activation == "relu":
        return 0.0
    found = fullmatch(r"smelu_([0-9]+(?:\.[0-9]+)?)", activation)
    return float(sub(r"^0(?=\d)", "0.", found[1])) if found else None  # smelu_05 has 0.5


def text_of(record: Record) -> dict[str, Any]:
    """What the networks of some seeds wrote: each text in parts, [text, whether the first has it there too] (of the
    first: the second)."""
    words = {name: split(r"(\s+)", text) for name, text in record["texts"].items()}
    first, second = [*words.values(), *words.values()][:2]
    texts = []
    for name, own in words.items():
        same = SequenceMatcher(None, own, second if own is first else first, autojunk=False).get_opcodes()
        parts = [["".join(own[a:b]), word == "equal"] for word, a, b, _, _ in same if a < b]
        texts.append([f"{record['model_name']}, {record['activation']}, seed {name}", parts])
    return {"prompt": record["prompt"], "texts": texts}


def _plain(value: Any) -> Any:
    """Plain values for JSON: arrays as lists, NaN as ``None``, few significant digits."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value
