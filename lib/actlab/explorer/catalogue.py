"""What the explorer shows, published and live: every estimate of every study as plain values, so that a page only
draws. No torch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from difflib import SequenceMatcher
from itertools import combinations
from pathlib import Path
from re import split, sub
from typing import Any

import numpy as np

from actlab.figures.style import looks
from actlab.files import read_yaml
from actlab.records import settings as recorded
from actlab.records import store, tables
from actlab.records.arm_results import ArmResults, changed
from actlab.records.labels import EVERY, METRICS, PAIR_METRICS, of_trials
from actlab.records.settings import factors, in_order
from actlab.records.store import Record
from actlab.statistics.equal_loss import at_level, shared_runs
from actlab.statistics.estimate import Array, Estimate
from actlab.statistics.means import jackknifed
from actlab.statistics.significance import adjusted

_FILE, WORDS = (read_yaml(Path(__file__).with_name(f"{name}.yaml")) for name in ("studies", "words"))
GROUPS = {name: group for group, titles in _FILE["groups"].items() for name in titles}
TITLES = {name: title for titles in _FILE["groups"].values() for name, title in titles.items()}
KINDS: dict[str, list[str]] = _FILE["kinds"]
THROUGH = ("total_variation", "churn")
"""The metrics of pairs that can be followed through training."""
LEVELS = tuple(range(0, 100, 10))
"""Percent of the way from the lowest loss that all arms reach to the first, at which they are compared."""
DIGITS = 6
"""Significant ones of a number on the page."""


def studies(names: Sequence[str] | None = None) -> dict[str, Any]:
    """The catalogue of the studies in the results folder; ``names`` (folders) chooses among them.

    Raises:
        BadInput: a folder without trials, or none of that name.
    """
    chosen = list(names or tables.studies())
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
    presets = {words: state for words, state in reversed(_FILE["presets"]) if state["study"] in shown}
    return dict(_plain({"studies": shown, "presets": [*reversed(presets.items())], "words": WORDS}))


Pair = tuple[int, int, str, tuple[str, str]]
"""Two arms that differ in one factor alone: their places, the factor, its two levels."""


def _study(name: str, records: Sequence[Record]) -> dict[str, Any]:
    kind = next((kind for kind in KINDS if any(record["kind"] == kind for record in records)), "")
    if not kind:
        return {}
    apart, names, series = recorded.differing(records), KINDS[kind] or list(METRICS), factors(kind)[1]
    main = [record for record in records if record["kind"] == kind]
    levels = {factor: in_order({_at(record, apart)[factor] for record in main}) for factor in _at(main[0], apart)}
    main.sort(key=lambda record: [levels[factor].index(level) for factor, level in _at(record, apart).items()])
    arms, places = [ArmResults(record) for record in main], [_at(record, apart) for record in main]
    pairs, own = _pairs(places, series), recorded.own_levels(records)
    bigram = next((record["bigram"]["val_loss"] for record in records if "bigram" in record), math.inf)
    followed: dict[tuple[str, ...], list[int]] = {}
    for i, (arm, at) in enumerate(zip(arms, places, strict=True)):
        if arm.record.get("trajectory") and arm.estimate("val_loss").value < bigram:
            followed.setdefault((*(at | {series: ""}).values(), *arm.labels), []).append(i)
    told = [_arm(arm, at, names, apart, records) for arm, at in zip(arms, places, strict=True)]
    moved = [name for name in names if any(name in arm["moved"] for arm in told)]
    cornered = len({arm["corner"] for arm in told} - {None}) > 3
    views = {
        "loss": THROUGH if followed else (),
        "values": names,
        "through": names,
        "ulp": moved,
        "drift": [name for name in names if any(name in arm["drift"] for arm in told)],
        "bend": moved[:1] if cornered else (),
        "two": names if pairs else (),
    }
    return {
        "title": TITLES.get(name, name),
        "group": GROUPS.get(name, "Your own studies"),
        "reference": "relu" if "relu" in levels[series] else levels[series][0],
        "kind": kind,
        "series": series,
        "others": [factor for factor in levels if factor != series],
        "cells": [*recorded.CELLS[kind], *(["setting"] if apart else [])],
        "factors": {
            factor: {"label": _FILE["labels"].get(factor, factor.replace("_", " ")), "levels": found}
            for factor, found in levels.items()
        },
        "metrics": {
            m.name: {"label": m.label, "note": m.note, "pairs": m.name in PAIR_METRICS}
            for m in (EVERY[name].of_kind(kind) for name in names)
        },
        "styles": {
            level: {
                "colour": "currentColor" if colour == "#000000" else colour,  # the page's ink, also on a dark page
                "shape": _FILE["shapes"][marker],
                "dashes": " ".join(str(2 * n) for n in dashes) if dashes[1] else "none",
                "about": own.get(level, ""),
            }
            for level, (colour, marker, dashes) in looks(levels[series]).items()
        },
        "views": {view: [*metrics] for view, metrics in views.items() if metrics},
        "arms": told,
        "pairs": [pair[:2] for pair in pairs],
        "end": {name: _at_end(arms, pairs, name) for name in names},
        "equal": {
            metric: [_at_loss(arms, [*followed.values()], pairs, metric, level / 100) for level in LEVELS]
            for metric in views["loss"]
        },
    }


def _pairs(places: Sequence[dict[str, str]], series: str) -> list[Pair]:
    """Those that differ in the series first."""
    found = []
    for factor in sorted(places[0], key=lambda name: name != series):
        groups: dict[tuple[str, ...], list[int]] = {}
        for i, at in enumerate(places):
            groups.setdefault(tuple((at | {factor: ""}).values()), []).append(i)
        two = [pair for group in groups.values() for pair in combinations(group, 2)]
        found += [(i, j, factor, (places[i][factor], places[j][factor])) for i, j in two]
    return found


def _block(means: Sequence[Sequence[float]], pairs: Sequence[Pair], found: Sequence[Estimate]) -> dict[str, Any]:
    """Columns of estimates. ``mean``, a place an arm: value, limits, n (and the loss where it is read). ``minus``, a
    place a pair: first - second, half of its interval, n, and two p-values adjusted by Holm: over the study's
    differences from the second's level, and from the first's."""
    p = np.full((2, len(pairs)), math.nan)
    families: dict[tuple[str, str], dict[tuple[int, int], Estimate]] = {}
    for k, (estimate, (_, _, factor, levels)) in enumerate(zip(found, pairs, strict=True)):
        for side in (0, 1) if math.isfinite(estimate.low) else ():
            families.setdefault((factor, levels[side]), {})[1 - side, k] = estimate
    for family in families.values():
        for place, (_, one) in adjusted(family).items():
            p[place] = one
    columns = [(e.value, (e.high - e.low) / 2, e.n) for e in found]
    return {"mean": [*zip(*means, strict=True)], "minus": [*zip(*columns, strict=True), *p]}


def _at_end(arms: Sequence[ArmResults], pairs: Sequence[Pair], name: str) -> dict[str, Any]:
    means = [astuple(arm.shown(name)) for arm in arms]
    return _block(means, pairs, [arms[i].minus(arms[j], name) for i, j, *_ in pairs])


def _at_loss(
    arms: Sequence[ArmResults], groups: Sequence[list[int]], pairs: Sequence[Pair], metric: str, share: float
) -> dict[str, Any]:
    """The arms of each group, which share their seeds, at one loss (``statistics.equal_loss``)."""
    none = jackknifed([math.nan])
    means = [(*astuple(none), math.nan) for _ in arms]
    minus: dict[tuple[int, ...], Array] = {}
    for group in groups:
        curves = [arms[i].curves(metric) for i in group]
        values, losses = at_level(curves, shared_runs(curves), share)
        of_arm = dict(zip(group, values.T, strict=True))  # (1 + M,) each
        for i, one in of_arm.items():
            means[i] = (*astuple(jackknifed(one)), losses[0])
        minus |= {(i, j): of_arm[i] - of_arm[j] for i, j in combinations(group, 2)}
    both = [minus.get(pair[:2]) for pair in pairs]
    return _block(means, pairs, [none if one is None else jackknifed(one) for one in both])


def _at(record: Record, apart: Sequence[str]) -> dict[str, str]:
    """Factor -> the record's level, as text."""
    levels = recorded.cell_of(record) | recorded.values_of(record, apart)
    return {name: recorded.text(level) for name, level in levels.items()}


def _arm(
    arm: ArmResults, at: dict[str, str], names: Iterable[str], apart: Sequence[str], records: Sequence[Record]
) -> dict[str, Any]:
    """One recorded arm: its place, one value a trial of each metric, or, for a metric of pairs, one a pair (the upper
    triangle, row by row); ``moved``: the same seed after a perturbation by one ULP, mean and values; ``drift``: how far
    the two runs are apart in training, mean over seeds; ``history``, ``along``: means of what was measured in it."""
    pairs = np.triu_indices(len(arm.labels), 1)
    moved: list[Record] = []
    drift = {}
    for other in records:
        if other["kind"] in ("floor", "perturbed") and _at(other, apart) == at and (found := changed(other, "nudge")):
            moved += found.values()
            curve = ArmResults(other).curve("val_loss")
            one, two = (curve.reindex([f"{seed}{variant}" for seed in found]).to_numpy() for variant in ("", "-nudge"))
            drift["val_loss"] = [[*curve], np.abs(two - one).mean(axis=0)]
    curve, along = arm.curve("val_loss"), {}
    if arm.record.get("trajectory"):
        curves = {name: arm.curves(name) for name in THROUGH}
        runs = shared_runs(curves.values())
        read = {name: one.means(runs) for name, one in curves.items()}
        along = {"iteration": [*arm.snapshots], "val_loss": read[THROUGH[0]][0]}
        along |= {name: values for name, (_, values) in read.items()}
    return {
        "at": at,
        "key": "/".join(at.values()),
        "setting": recorded.named(arm.record, apart),
        "labels": arm.labels,
        "singles": {name: arm.values(name) if of_trials(name) else arm.matrix(name)[pairs] for name in names},
        "ended": f" ({', '.join(arm.not_done)})" if arm.not_done else "",
        "moved": {name: _moved([pair[name] for pair in moved]) for name in PAIR_METRICS if moved},
        "corner": corner(str(arm.record["activation"])) if moved else None,
        "drift": drift,
        "history": {"iteration": [*curve], "val_loss": curve.mean().to_numpy()} if curve.size else {},
        "along": along,
    }


def _moved(values: list[float]) -> list[Any]:
    """[an estimate without an interval, the values if there are several]."""
    return [(np.mean(values), math.nan, math.nan, len(values)), values[: len(values) if len(values) > 1 else 0]]


def corner(activation: str) -> float | None:
    """Half the width of a rounded corner: 0 of relu, none of what is no corner."""
    family, _, beta = activation.rpartition("_")  # smelu_05 has 0.5
    return 0.0 if activation == "relu" else float(sub(r"^0(?=\d)", "0.", beta)) if family == "smelu" else None


def text_of(record: Record) -> dict[str, Any]:
    """What the networks of two seeds wrote, each in parts: [text, whether the other has it there too]."""
    names = [*record["texts"]][:2]
    first, second = (split(r"(\s+)", record["texts"][name]) for name in names)
    same = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    return {
        "titles": [f"{record['model_name']}, {record['activation']}, seed {name}" for name in names],
        "prompt": record["prompt"],
        "parts": [
            [["".join(first[a:b]), word == "equal"] for word, a, b, _, _ in same if a < b],
            [["".join(second[a:b]), word == "equal"] for word, _, _, a, b in same if a < b],
        ],
    }


def _plain(value: Any) -> Any:
    """Plain values for JSON: arrays as lists, NaN as ``None``, few significant digits."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value
