"""What the explorer shows, published and live: every estimate of every study as plain values, so that a page only
draws. No torch."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations, permutations
from pathlib import Path
from re import fullmatch, split, sub
from typing import Any

import numpy as np
import pandas as pd

from actlab.figures.style import looks
from actlab.files import escaped, read_yaml
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
TEXT = '<div style="flex:1 1 20em;min-width:0"><b>{}</b><pre style="white-space:pre-wrap">{}</pre></div>'
MARK = '<mark style="background:#E69F00;color:#000">{}</mark>'
Pair = tuple[int, int, str | None]
"""The places of two arms that differ in one factor alone; the family of the first minus the second, named by the factor
and the second's level."""


def studies(names: Sequence[str] | None = None) -> dict[str, Any]:
    """The catalogue of the studies in the results folder; ``names`` (folders) chooses among them.

    Raises:
        BadInput: a folder without trials, or none of that name.
    """
    found = of_records({name: tables.load_records(name) for name in names} if names else find.every())
    for name, study in found["studies"].items():
        if texts := store.load_texts(name):
            study |= {"texts": texts_of(texts), "views": study["views"] | {"texts": [*study["metrics"]]}}
    return found


def of_records(folders: Mapping[str, Sequence[Record]]) -> dict[str, Any]:
    """Everything that the explorer needs of some folders' records, as plain values; a folder with nothing to explore is
    left out."""
    names = sorted(folders, key=[*TITLES, *sorted(folders)].index)
    shown = {name: study for name in names if (study := _study(name, folders[name]))}
    presets = [[words, state] for words, state in _FILE["presets"] if state["study"] in shown]
    return dict(_plain({"studies": shown, "presets": presets, "words": WORDS}))


def _study(name: str, records: Sequence[Record]) -> dict[str, Any]:
    """A study's arms, by their keys, what its menus offer, and every number (``_numbers``)."""
    kind = next((kind for kind in KINDS if any(record["kind"] == kind for record in records)), "")
    if not kind:
        return {}
    apart, metrics, series = recorded.differing(records), KINDS[kind] or [*METRICS], factors(kind)[1]
    main = [(_at(record, apart), record) for record in records if record["kind"] == kind]
    levels = {factor: in_order({at[factor] for at, _ in main}) for factor in main[0][0]}
    main.sort(key=lambda one: [levels[factor].index(level) for factor, level in one[0].items()])
    places = [at for at, _ in main]
    pairs = _pairs(places, series)
    again = [
        (record, {"record": places.index(at)})
        for record in records
        if record["kind"] in ("floor", "perturbed") and (at := _at(record, apart)) in places
    ]
    named = [
        (record, {"record": i, "setting": f"{at | {series: ''}} {recorded.labels_of(record)}"})
        for i, (at, record) in enumerate(main)
    ]
    bigram = next((record["bigram"]["val_loss"] for record in records if "bigram" in record), math.inf)
    numbers = _numbers(named, again, metrics, pairs, bigram)
    moved = numbers["found"]["one bit"]
    keys = ["/".join(at.values()) for at in places]
    tried = [any(every[i] for every in moved.values()) for i in range(len(main))]
    halves = [corner(str(record["activation"])) if one else None for one, (_, record) in zip(tried, main, strict=True)]
    bends = sorted({half for half in halves if half}, key=float)
    arms = {
        keys[i]: {
            "place": i,
            "key": keys[i],
            "at": at,
            "setting": recorded.named(record, apart),
            "labels": recorded.labels_of(record),
            "ended": _ended(record),
            "bend": halves[i],
        }
        for i, (at, record) in enumerate(main)
    }
    steps = sorted({int(step) for course in numbers["drift"] for step in course["iteration"]})
    reference = "relu" if "relu" in levels[series] else levels[series][0]
    views = {
        "loss": [metric for metric in THROUGH if metric in numbers["found"]["0"]],
        "values": metrics,
        "through": metrics,
        "ulp": [*moved],
        "drift": ["val_loss"] if steps else [],
        "bend": [*moved][:1] if len(bends) > 3 else [],
        "two": metrics if pairs else [],
    }
    about = {metric: EVERY[metric].of_kind(kind) for metric in metrics}
    return {
        **TITLES.get(name, {"group": "Your own studies", "title": name}),
        "reference": reference,
        "series": series,
        "others": [factor for factor in levels if factor != series],
        "cells": [*recorded.CELLS[kind], *(["setting"] if apart else [])],
        "names": WORDS["views"]
        | {factor: _FILE["labels"].get(factor, factor.replace("_", " ")) for factor in levels}
        | {metric: one.label for metric, one in about.items()},
        "metrics": {
            metric: {"note": one.note, "table": "trials" if of_trials(metric) else "pairs"}
            for metric, one in about.items()
        },
        "styles": {
            level: {
                "colour": colour,
                "shape": _FILE["shapes"][marker],
                "dashes": [2 * n for n in dashes],
            }
            for level, (colour, marker, dashes) in looks(levels[series]).items()
        },
        "views": {view: shown for view, shown in views.items() if shown},
        "options": levels
        | {"minus": ["none", *levels[series]], "x": ["iteration", *metrics], "level": [*map(str, LEVELS)]}
        | {"step": [*map(str, steps)], "bend": bends},
        "usual": {"minus": reference, "x": "val_loss", "step": str(max(steps, default="")), "bend": "0.3"},
        "arms": arms,
        "pairs": {key: {keys[j]: n for n, (i, j, _) in enumerate(pairs) if keys[i] == key} for key in keys},
        **numbers,
    }


def _at(record: Record, apart: Sequence[str]) -> dict[str, str]:
    """Factor -> the record's level, as text."""
    levels = recorded.cell_of(record) | recorded.values_of(record, apart)
    return {name: recorded.text(level) for name, level in levels.items()}


def _ended(record: Record) -> str:
    """Which trials did not end well, in brackets."""
    ended = [f"{trial['label']}: {trial['status']}" for trial in record["trials"] if trial["status"] != "done"]
    return f" ({', '.join(ended)})" if ended else ""


def corner(activation: str) -> str | None:
    """Half the width of a rounded corner: 0 of relu, none of what is no corner."""
    found = fullmatch(r"smelu_([0-9]+(?:\.[0-9]+)?)", activation)
    half = sub(r"^0(?=\d)", "0.", found[1]) if found else None  # smelu_05 has 0.5
    return "0" if activation == "relu" else half


def _pairs(places: Sequence[Mapping[str, str]], series: str) -> list[Pair]:
    """Those that differ in the series first."""
    found: list[Pair] = []
    for factor in sorted(places[0], key=lambda name: name != series):
        groups: dict[str, list[int]] = {}  # of the arms that differ in this factor alone
        for i, at in enumerate(places):
            groups.setdefault(repr({**at, factor: ""}), []).append(i)
        every = factor == series or max(map(len, groups.values())) <= NEAR + 1
        for group in groups.values():
            for (m, i), (n, j) in permutations(enumerate(group), 2):
                if every or 0 in (m, n) or abs(n - m) <= NEAR:
                    found.append((i, j, f"{factor} {places[j][factor]}" if every else None))
    return found


def _numbers(
    named: Sequence[tables.Arm],
    again: Sequence[tables.Arm],
    metrics: Sequence[str],
    pairs: Sequence[Pair],
    bigram: float,
) -> dict[str, Any]:
    """By moment, metric and place of the arm: ``found``, an estimate; ``singles``, one value a trial or, of a metric of
    pairs, a pair (the upper triangle, row by row); by moment, metric and place of the pair: ``differences``. A moment
    is the end of training, one bit (the same seed after a perturbation by one ULP) or a level of loss. By the arm's
    place: ``along``, means in training; ``drift``, how far a run and the same seed after one bit are apart, mean over
    seeds."""
    count = len(named)
    trials, ends, curves = tables.trials_of(named), tables.pairs_of(named), tables.curves_of(named)
    along = tables.pairs_of([one for one in named if one[0].get("trajectory")], "along")
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
    changed = tables.pairs_of(again)
    moved = changed[changed["second"].astype(str).str.endswith("-nudge")]
    for metric in PAIR_METRICS if len(moved) else ():
        values = [own[metric].tolist() for own in _of_each(moved, count)]
        found["one bit"][metric] = [[np.mean(own), math.nan, math.nan, len(own)] if own else None for own in values]
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


def _drift(again: Sequence[tables.Arm]) -> pd.DataFrame:
    """How far a run and the same seed after one bit are apart in training, a row an arm and iteration."""
    run = ["record", "iteration", "seed"]
    curves = tables.curves_of(again).reindex(columns=[*run, "variant", "val_loss"]).fillna({"variant": "none"})
    wide = curves.pivot_table("val_loss", run, "variant").reindex(columns=["none", "nudge"])
    apart = (wide["nudge"] - wide["none"]).abs()
    return apart.groupby(run[:2]).mean().dropna().reset_index(name="val_loss")


def _differences(arms: Sequence[Arm], pairs: Sequence[Pair]) -> list[Any]:
    """First - second (``_tested``), each over the runs that both have."""
    without = cache(lambda i, runs: arms[i].without_one(runs))
    shared = [tuple(run for run in arms[i].runs if run in arms[j].runs) for i, j, _ in pairs]
    return _tested(pairs, [without(i, of) - without(j, of) for (i, j, _), of in zip(pairs, shared, strict=True)])


def _tested(pairs: Sequence[Pair], values: Iterable[Array]) -> list[Any]:
    """[value, half of its interval, n, p] of differences and again without each run; p is adjusted by Holm over its
    family, to a millionth (NaN where it has none)."""
    found = [summary(one) for one in values]
    p = pd.Series([one[-1] for one in found], dtype=float)
    adjusted = p.groupby([family for *_, family in pairs]).transform(holm).round(6).clip(1e-6)
    return [[value, (high - low) / 2, n, p] for (n, value, low, high, *_), p in zip(found, adjusted, strict=True)]


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
        means = [[*one, n] for n, *one, _, _, _ in map(summary, own)]
        yield str(level), means, losses, _tested(pairs, [minus.get(pair[:2], none) for pair in pairs])


def texts_of(records: Sequence[Record]) -> dict[str, str]:
    """The prompt, and as HTML what the networks of some seeds wrote: marked is what the first has not (of the first:
    the second)."""
    boxes = ""
    for record in records:
        words = {name: split(r"(\s+)", text) for name, text in record["texts"].items()}
        first, second = [*words.values(), *words.values()][:2]
        for name, own in words.items():
            same = SequenceMatcher(None, own, second if own is first else first, autojunk=False).get_opcodes()
            parts = [("".join(own[a:b]), word == "equal") for word, a, b, _, _ in same if a < b]
            boxes += boxed(f"{record['model_name']}, {record['activation']}, seed {name}", parts)
    return {"prompt": records[0]["prompt"], "html": boxes}


def boxed(title: str, parts: Iterable[tuple[str, bool]]) -> str:
    """A text in parts as HTML, those marked that are not the same as another text's."""
    marked = (escaped(text) if same else MARK.format(escaped(text)) for text, same in parts)
    return TEXT.format(escaped(title), "".join(marked))


def _plain(value: Any) -> Any:
    """Plain values for JSON: arrays as lists, NaN as ``None``, few significant digits."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    return value
