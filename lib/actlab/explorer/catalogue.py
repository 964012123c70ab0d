"""What the explorer shows, published and live: every estimate of every study as plain values, so that a page only
draws. No torch."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from re import split, sub
from typing import Any

import numpy as np
import pandas as pd

from actlab.figures.style import looks
from actlab.files import read_yaml
from actlab.records import settings as recorded
from actlab.records import store, tables
from actlab.records.arm_results import ArmResults, changed
from actlab.records.labels import EVERY, METRICS, PAIR_METRICS, of_trials
from actlab.records.settings import factors, in_order
from actlab.records.store import Record
from actlab.statistics.equal_loss import at_level, shared_runs
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import jackknifed
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
    chosen = list(names or store.studies())
    found = of_records({name: tables.load_records(name) for name in chosen})
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
    main = [(_at(record, apart), ArmResults(record)) for record in records if record["kind"] == kind]
    levels = {factor: in_order({at[factor] for at, _ in main}) for factor in main[0][0]}
    main.sort(key=lambda one: [levels[factor].index(level) for factor, level in one[0].items()])
    again = [(_at(record, apart), record) for record in records if record["kind"] in ("floor", "perturbed")]
    drawn = [
        {"at": at, "key": "/".join(at.values()), "setting": recorded.named(arm.record, apart)}
        | _arm(arm, names, [record for place, record in again if place == at])
        for at, arm in main
    ]
    places, arms = zip(*main, strict=True)
    pairs, own = _pairs(places, series), recorded.own_levels(records)
    bigram = next((record["bigram"]["val_loss"] for record in records if "bigram" in record), math.inf)
    followed = [
        [i for i in group if arms[i].record.get("trajectory") and arms[i].estimate("val_loss").value < bigram]
        for group in _alike([at | {"seeds": str(arm.labels)} for at, arm in main], series)
    ]
    at_loss = {metric: _at_losses(arms, followed, pairs, metric) for metric in THROUGH if any(followed)}
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
                "about": own.get(level, ""),
            }
            for level, (colour, marker, dashes) in looks(levels[series]).items()
        },
        "views": {view: shown for view, shown in views.items() if shown},
        "arms": drawn,
        "pairs": [pair[:2] for pair in pairs],
        "end": {name: _minus(pairs, [arms[i].minus(arms[j], name) for i, j, _ in pairs]) for name in names},
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


def _minus(pairs: Sequence[Pair], found: Sequence[Estimate]) -> list[Any]:
    """Five columns, a place a pair: first - second, half of its interval, n, and its p-value adjusted by Holm over each
    of its two families, to a millionth (NaN where it has none)."""
    p = pd.Series([e.p_value() if math.isfinite(e.low) else math.nan for e in found], dtype=float).repeat(2)
    adjusted = p.groupby([family for *_, both in pairs for family in both]).transform(holm).to_numpy().reshape(-1, 2)
    return [*zip(*((e.value, (e.high - e.low) / 2, e.n) for e in found), strict=True), *adjusted.T.round(6).clip(1e-6)]


def _at_losses(
    arms: Sequence[ArmResults], groups: Sequence[list[int]], pairs: Sequence[Pair], metric: str
) -> list[tuple[list[Any], list[Any]]]:
    """At each level of loss: an estimate an arm, with the loss, and the differences (``_minus``), of the arms of each
    group, which share their seeds (``statistics.equal_loss``)."""
    found, none = [], jackknifed([math.nan])
    curves = [{i: arms[i].curves(metric) for i in group} for group in groups if group]
    for level in LEVELS:
        means, minus = [(*astuple(none), math.nan)] * len(arms), dict[tuple[int, ...], Estimate]()
        for group in curves:
            values, losses = at_level([*group.values()], shared_runs(group.values()), level / 100)
            own = dict(zip(group, values.T, strict=True))  # (1 + M,) each
            for i, one in own.items():
                means[i] = (*astuple(jackknifed(one)), losses[0])
            minus |= {(i, j): jackknifed(own[i] - own[j]) for i, j in combinations(group, 2)}
        found.append((means, _minus(pairs, [minus.get(pair[:2], none) for pair in pairs])))
    return found


def _at(record: Record, apart: Sequence[str]) -> dict[str, str]:
    """Factor -> the record's level, as text."""
    levels = recorded.cell_of(record) | recorded.values_of(record, apart)
    return {name: recorded.text(level) for name, level in levels.items()}


def _arm(arm: ArmResults, names: Iterable[str], again: Iterable[Record]) -> dict[str, Any]:
    """One recorded arm: estimates and, of each metric, one value a trial or, where it is one of pairs, a pair (the
    upper triangle, row by row); of its repetitions ``moved``: the same seed after a perturbation by one ULP, mean and
    values, and ``drift``: how far the two runs are apart in training, mean over seeds; ``along``: means of what was
    measured in it."""
    pairs, along = np.triu_indices(len(arm.labels), 1), {"val_loss": arm.curve("val_loss").mean()}
    moved, drift = list[Record](), dict[str, Any]()
    for other in again:
        if found := changed(other, "nudge"):
            moved += found.values()
            course = ArmResults(other).curve("val_loss")
            one, two = (course.reindex([f"{seed}{variant}" for seed in found]).to_numpy() for variant in ("", "-nudge"))
            drift = {"iteration": [*course], "val_loss": np.abs(two - one).mean(axis=0)}
    if arm.record.get("trajectory"):
        for name in THROUGH:
            along[name] = pd.DataFrame(arm.curves(name).pairs[:, *pairs], [*arm.snapshots]).mean(axis=1)
    return {
        "labels": arm.labels,
        "singles": {name: arm.values(name) if of_trials(name) else arm.matrix(name)[pairs] for name in names},
        "end": {name: astuple(arm.shown(name)) for name in names},
        "ended": f" ({', '.join(arm.not_done)})" if arm.not_done else "",
        "moved": {name: _moved([pair[name] for pair in moved]) for name in PAIR_METRICS if moved},
        "corner": corner(str(arm.record["activation"])) if moved else None,
        "drift": drift,
        "along": pd.DataFrame(along).rename_axis("iteration").reset_index().to_dict("list"),
    }


def _moved(values: list[float]) -> list[Any]:
    """[an estimate without an interval, the values if there are several]."""
    return [(np.mean(values), math.nan, math.nan, len(values)), values if len(values) > 1 else []]


def corner(activation: str) -> float | None:
    """Half the width of a rounded corner: 0 of relu, none of what is no corner."""
    family, _, beta = activation.rpartition("_")  # smelu_05 has 0.5
    return 0.0 if activation == "relu" else float(sub(r"^0(?=\d)", "0.", beta)) if family == "smelu" else None


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
