"""What the explorer shows, published and live: every study's records as plain values, and links to its states. Draws
nothing, no torch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from actlab.figures.style import looks
from actlab.files import read_yaml
from actlab.records import settings as recorded
from actlab.records import tables
from actlab.records.labels import EVERY, METRICS, PAIR_METRICS, of_trials
from actlab.records.repro import ArmResults, changed
from actlab.records.settings import factors, in_order
from actlab.records.store import Record
from actlab.statistics.equal_loss import equal_loss
from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import adjusted

_FILE = read_yaml(Path(__file__).with_name("studies.yaml"))
GROUPS = {name: group for group, titles in _FILE["groups"].items() for name in titles}
TITLES = {name: title for titles in _FILE["groups"].values() for name, title in titles.items()}
KINDS: dict[str, list[str]] = _FILE["kinds"]
THROUGH = ("total_variation", "churn")
"""The metrics of pairs that can be followed through training."""


def studies(names: Sequence[str] | None = None) -> dict[str, Any]:
    """The catalogue of the studies in the results folder; ``names`` (folders) chooses among them.

    Raises:
        BadInput: a folder without trials, or none of that name.
    """
    return of_records({name: tables.load_records(name) for name in names or tables.studies()})


def of_records(folders: Mapping[str, Sequence[Record]]) -> dict[str, Any]:
    """Everything that the explorer needs of some folders' records, as plain values; a folder with nothing to explore is
    left out."""
    names = [*(name for name in TITLES if name in folders), *sorted({*folders} - {*TITLES})]
    found = {name: _study(name, folders[name]) for name in names}
    shown = {name: study for name, study in found.items() if study["arms"]}
    levels = {level for study in shown.values() for level in study["factors"][study["series"]]["levels"]}
    most = max((len(arm["labels"]) for study in shown.values() for arm in study["arms"]), default=0)
    own = {level: about for records in folders.values() for level, about in recorded.own_levels(records).items()}
    styles = {
        level: {"colour": colour, "marker": marker, "dashes": dashes} | ({"about": own[level]} if level in own else {})
        for level, (colour, marker, dashes) in looks(in_order(levels)).items()
    }
    t = stats.t.ppf(0.975, np.arange(most + 1))  # of 95% intervals, by degrees of freedom
    return dict(_plain({"studies": shown, "styles": styles, "presets": _FILE["presets"], "t": t}))


def _study(name: str, records: Sequence[Record]) -> dict[str, Any]:
    kind = next((kind for kind in KINDS if any(record["kind"] == kind for record in records)), "")
    if not kind:
        return {"arms": []}
    apart = recorded.differing(records)
    names = KINDS[kind] or list(METRICS)
    arms = [_arm(record, names, apart, records) for record in records if record["kind"] == kind]
    levels = {factor: in_order({arm["at"][factor] for arm in arms}) for factor in arms[0]["at"]}
    series = factors(kind)[1]
    reference = "relu" if "relu" in levels[series] else levels[series][0]
    main = [ArmResults(record) for record in records if record["kind"] == kind]
    for arm, found in zip(
        arms, _significance(main, [arm["at"] for arm in arms], series, reference, names), strict=True
    ):
        arm["p"] = found
    return {
        "title": TITLES.get(name, name),
        "group": GROUPS.get(name, "Your own studies"),
        "reference": reference,
        "kind": kind,
        "series": series,
        "cells": recorded.CELLS[kind],
        "factors": {
            factor: {"label": _FILE["labels"].get(factor, factor.replace("_", " ")), "levels": found}
            for factor, found in levels.items()
        },
        "metrics": {
            m.name: {"label": m.label, "note": m.note, "pairs": m.name in PAIR_METRICS}
            for m in (EVERY[name].of_kind(kind) for name in names)
        },
        "arms": sorted(arms, key=lambda arm: [levels[factor].index(level) for factor, level in arm["at"].items()]),
    }


def _significance(
    arms: Sequence[ArmResults], places: Sequence[dict[str, str]], series: str, reference: str, names: Iterable[str]
) -> list[dict[str, float]]:
    """Of each arm: metric -> p-value of its difference from the reference, adjusted by Holm over the study's
    comparisons in that metric; ``loss METRIC``: at equal loss."""
    groups: dict[tuple[str, ...], dict[str, int]] = {}
    for i, at in enumerate(places):
        groups.setdefault(tuple(value for name, value in at.items() if name != series), {})[at[series]] = i
    families: dict[str, dict[int, Estimate]] = {}
    for group in groups.values():
        if reference not in group or len(group) < 2:
            continue
        others = {level: i for level, i in group.items() if level != reference}
        for name in names:
            found = {i: arms[i].minus(arms[group[reference]], name) for i in others.values()}
            families.setdefault(name, {}).update(found)
        followed = all(arms[i].record.get("trajectory") for i in group.values())
        for name in THROUGH if followed and len({tuple(arms[i].labels) for i in group.values()}) == 1 else ():
            read = equal_loss({level: arms[i].curves(name) for level, i in group.items()}, reference).differences
            families.setdefault(f"loss {name}", {}).update({others[level]: e for level, e in read.items()})
    tested = {name: adjusted(family) for name, family in families.items()}
    return [{name: found[i][1] for name, found in tested.items() if i in found} for i in range(len(arms))]


def _at(record: Record, apart: Sequence[str]) -> dict[str, str]:
    """Factor -> the record's level, as text."""
    levels = recorded.cell_of(record) | recorded.values_of(record, apart)
    return {name: recorded.text(level) for name, level in levels.items()}


def _arm(record: Record, names: Iterable[str], apart: Sequence[str], records: Sequence[Record]) -> dict[str, Any]:
    """One recorded arm: its place, one value a trial of each metric, or, for a metric of pairs, one a pair (the upper
    triangle, row by row); ``moved``: the same seed after a perturbation by one ULP, one value a seed; ``through``: what
    was measured in training."""
    arm, at = ArmResults(record), _at(record, apart)
    pairs = np.triu_indices(len(arm.labels), 1)
    moved = [
        pair
        for other in records
        if other["kind"] in ("floor", "perturbed") and _at(other, apart) == at
        for pair in changed(other, "nudge").values()
    ]
    curve = arm.curve("val_loss")
    through = {"history": {"iteration": [*curve], "val_loss": curve.T.to_numpy()}} if curve.size else {}
    if record.get("trajectory"):
        found = {name: arm.curves(name) for name in THROUGH}
        through["snapshots"] = {
            "iteration": np.array([*arm.snapshots], float),
            "val_loss": found[THROUGH[0]].losses,
            **{name: curves.pairs[:, *pairs].round(6) for name, curves in found.items()},  # most of the page's bytes
        }
    return {
        "at": at,
        "setting": recorded.named(record, apart),
        "labels": arm.labels,
        "singles": {name: arm.values(name) if of_trials(name) else arm.matrix(name)[pairs] for name in names},
        "not_done": arm.not_done,
        "moved": {name: [pair[name] for pair in moved] for name in PAIR_METRICS if moved},
        **through,
    }


def _plain(value: Any) -> Any:
    """Plain values for JSON: arrays as lists, NaN as ``None``, seven significant digits at most."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.7g}") if math.isfinite(value) else None
    return value
