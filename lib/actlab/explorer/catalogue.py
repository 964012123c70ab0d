"""What the explorer shows, published and live: every estimate of every study as plain values, so that a page only
draws. No torch."""

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import permutations
from pathlib import Path
from re import fullmatch, split, sub
from typing import Any

import numpy as np

from actlab.explorer.numbers import LEVELS, THROUGH, Pair, numbers_of
from actlab.figures.style import Look, looks
from actlab.files import escaped, read_yaml
from actlab.records import find, store, tables
from actlab.records import settings as recorded
from actlab.records.labels import EVERY, METRICS, SHARES, of_trials, words
from actlab.records.settings import factors, in_order
from actlab.records.store import Record

_FILE, WORDS = (read_yaml(Path(__file__).with_name(f"{name}.yaml")) for name in ("studies", "words"))
TITLES = {
    name: {"group": group, "title": title} for group, names in _FILE["groups"].items() for name, title in names.items()
}
KINDS: dict[str, list[str]] = _FILE["kinds"]
NEAR = 7
"""With how many levels before it a level of a further factor is compared, beside the first, so that the number of
differences grows as the arms'; eight levels and fewer are all compared."""
DIGITS = 5
"""Significant ones of a number on the page."""
TEXT = '<div style="flex:1 1 20em;min-width:0"><b>{}</b><pre style="white-space:pre-wrap">{}</pre></div>'
MARK = '<mark style="background:#E69F00;color:#000">{}</mark>'


def studies(names: Sequence[str] | None = None) -> dict[str, Any]:
    """The catalogue of the studies in the results folder; ``names`` (folders) chooses among them.

    Raises:
        BadInput: a folder without trials, or none of that name.
    """
    found = of_records({name: tables.load_records(name) for name in names} if names else find.every())
    for name, study in found["studies"].items():
        if texts := store.load_texts(name):
            study["texts"] = texts_of(texts)
            study["views"]["texts"] = [*study["metrics"]]
    return found


def of_records(folders: Mapping[str, Sequence[Record]]) -> dict[str, Any]:
    """Everything that the explorer needs of some folders' records, as plain values; a folder with nothing to explore is
    left out."""
    names = sorted(folders, key=[*TITLES, *sorted(folders)].index)
    shown = {name: study for name in names if (study := _study(name, folders[name]))}
    presets = [[words, state] for words, state in _FILE["presets"] if state["study"] in shown]
    return dict(_plain({"studies": shown, "presets": presets, "words": WORDS}))


def _study(name: str, records: Sequence[Record]) -> dict[str, Any]:
    """A study's arms, by their keys, what its menus offer, and every number (``numbers.py``)."""
    kind = next((kind for kind in KINDS if any(record["kind"] == kind for record in records)), "")
    if not kind:
        return {}
    apart, metrics, series = recorded.differing(records), KINDS[kind] or [*METRICS], factors(kind)[1]
    main = [(_at(record, apart), record) for record in records if record["kind"] == kind]
    levels = {factor: in_order({at[factor] for at, _ in main}) for factor in main[0][0]}
    main.sort(key=lambda one: [levels[factor].index(level) for factor, level in one[0].items()])
    places = [at for at, _ in main]
    pairs = _pairs(places, series)
    again: list[tables.Arm] = []
    for record in records:
        if record["kind"] in ("floor", "perturbed"):
            at = _at(record, apart)
            if at in places:
                again.append((record, {"record": places.index(at)}))
    named: list[tables.Arm] = []
    for place, (at, record) in enumerate(main):
        setting = f"{at | {series: ''}} {recorded.labels_of(record)}"
        named.append((record, {"record": place, "setting": setting}))
    bigram = next((record["bigram"]["val_loss"] for record in records if "bigram" in record), math.inf)
    numbers = numbers_of(named, again, metrics, pairs, bigram)
    moved = numbers["found"]["one bit"]
    arms: dict[str, dict[str, Any]] = {}
    for place, (at, record) in enumerate(main):
        tried = any(every[place] for every in moved.values())
        arms[_key(at)] = {
            "place": place,
            "key": _key(at),
            "at": at,
            "setting": recorded.named(record, apart),
            "labels": recorded.labels_of(record),
            "ended": _ended(record),
            "bend": corner(str(record["activation"])) if tried else None,
        }
    bends = sorted({arm["bend"] for arm in arms.values() if arm["bend"]}, key=float)
    numbered: dict[str, dict[str, int]] = {key: {} for key in arms}  # key -> other's key -> which of the differences
    for number, pair in enumerate(pairs):
        numbered[_key(places[pair.first])][_key(places[pair.second])] = number
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
        | {metric: f"{one.short} (%)" if metric in SHARES else one.label for metric, one in about.items()},
        "said": {one: words(one) for every in levels.values() for one in every if words(one) != one},
        "metrics": {
            metric: {"note": one.note, "table": "trials" if of_trials(metric) else "pairs"}
            for metric, one in about.items()
        },
        "styles": {level: _style(look) for level, look in looks(levels[series]).items()},
        "views": {view: shown for view, shown in views.items() if shown},
        "options": levels
        | {"minus": ["none", *levels[series]], "x": ["iteration", *metrics], "level": [*map(str, reversed(LEVELS))]}
        | {"step": [*map(str, steps)], "bend": bends},
        "usual": {
            "minus": reference,
            "x": "val_loss",
            "level": "0",
            "step": str(max(steps, default="")),
            "bend": "0.3",
        },
        "arms": arms,
        "pairs": numbered,
        **numbers,
    }


def _at(record: Record, apart: Sequence[str]) -> dict[str, str]:
    """Factor -> the record's level, as text."""
    levels = recorded.cell_of(record) | recorded.values_of(record, apart)
    return {name: recorded.text(level) for name, level in levels.items()}


def _key(at: Mapping[str, str]) -> str:
    return "/".join(at.values())


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
            for (m, first), (n, second) in permutations(enumerate(group), 2):
                if every or 0 in (m, n) or abs(n - m) <= NEAR:
                    family = f"{factor} {places[second][factor]}" if every else None
                    found.append(Pair(first, second, family))
    return found


def _style(look: Look) -> dict[str, Any]:
    colour, marker, dashes = look
    return {"colour": colour, "shape": _FILE["shapes"][marker], "dashes": [2 * length for length in dashes]}


def texts_of(records: Sequence[Record]) -> dict[str, str]:
    """The prompt, and as HTML what the networks of some seeds wrote: marked is what the first has not (of the first:
    the second)."""
    boxes = ""
    for record in records:
        parted = {name: split(r"(\s+)", text) for name, text in record["texts"].items()}
        first, second = [*parted.values(), *parted.values()][:2]  # the first twice where it is alone
        for name, own in parted.items():
            other = second if own is first else first
            steps = SequenceMatcher(None, own, other, autojunk=False).get_opcodes()
            parts = [("".join(own[a:b]), word == "equal") for word, a, b, _, _ in steps if a < b]
            boxes += boxed(f"{record['model_name']}, {words(record['activation'])}, seed {name}", parts)
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
