"""The settings of recorded arms: which records are one arm at two sizes, and what tells several arms of one cell
apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from actlab.files import read_yaml

Record = Mapping[str, Any]
One = TypeVar("One", bound=Record)
KNOWN = read_yaml(Path(__file__).with_suffix(".yaml"))
CELLS: dict[str, list[str]] = KNOWN["cells"]
"""Kind of record -> the factors of its study: records that share them are one cell of the study's table."""
MAIN = ("trials", "mnist", "ablation")
"""Kinds whose trials differ in the seed alone."""
DEFAULTS: dict[str, Any] = KNOWN["defaults"]
"""What an arm of language models has that does not say it."""
ORDER = [name for names in KNOWN["order"] for name in names]
"""The studies' own order, in tables and figures."""


def kind_of(record: Record) -> str:
    """Return the kind of a record of trials; "" of any other."""
    return record["kind"] if record["kind"] in CELLS else ""


def labels_of(record: Record) -> list[str]:
    """List the names of a record's trials, as planned."""
    return [str(label) for label in record["config"].get("trials", record["config"].get("seeds", ()))]


def cell_of(record: Record) -> dict[str, Any]:
    """Return the record's place in its study: factor -> level."""
    levels = {**record["config"], **record, "model": record["model_name"]}
    return {name: levels[name] for name in CELLS[kind_of(record)]}


def settings_of(record: Record) -> dict[str, Any]:
    """Return what can tell two arms of a cell apart: the recipe and every other setting, by name; ``seed`` is that of
    the first trial."""
    cell, config = cell_of(record), record["config"]
    usual = DEFAULTS if "model" in cell else {"protocol": [], "parts": {}}
    flat = {**usual, **config.get("recipe", {}), **config}
    settings = {name: value for name, value in flat.items() if name not in {*KNOWN["not named"], *cell}}
    if labels := labels_of(record):
        settings["seed"] = labels[0].partition("-")[0]
    return settings


def by_content(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings in which a user's own text is known by its hash alone, whatever its file is called."""
    by_hash = "dataset" in config.get("parts", {})
    return {name: value for name, value in config.items() if not (by_hash and name == "dataset")}


def without_trials(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return an arm's settings without how many trials it has, and what is computed of them."""
    left_out = ("trials", "seeds", "ensembles", "metrics")
    return {name: value for name, value in by_content(config).items() if name not in left_out}


def grouped(records: Iterable[One], key: Callable[[One], object]) -> list[list[One]]:
    """Put the records that share a key together."""
    groups: dict[str, list[One]] = {}
    for record in records:
        groups.setdefault(repr(key(record)), []).append(record)
    return [*groups.values()]


def differing(records: Iterable[Record]) -> list[str]:
    """Name the settings in which arms of one cell differ, over all cells of a study; ``arm`` (its hash) where no
    setting tells two apart."""
    names: dict[str, None] = {}
    for cell in grouped((record for record in records if kind_of(record) in MAIN), cell_of):
        arms = [settings_of(record) for record in cell]
        known = dict.fromkeys(name for arm in arms for name in arm)
        varying = [name for name in known if _apart(arms, [name]) > 1]
        # two texts go by their names, and by their hashes only where one name has two
        tried = [[name for name in varying if name != "parts"], varying]
        telling = (some for some in tried if _apart(arms, some) == len(arms))
        names |= dict.fromkeys(next(telling, [*varying, "arm"]))
    return list(names)


def _apart(arms: Sequence[Mapping[str, Any]], names: Sequence[str]) -> int:
    """Count how many arms their settings of these names tell apart."""
    return len({repr([arm.get(name) for name in names]) for arm in arms})


def values_of(record: Record, names: Sequence[str]) -> dict[str, str]:
    """Map settings to the record's value of each, as text."""
    settings = settings_of(record) | {"arm": str(record.get("arm", "")).rpartition("-")[2]}
    return {name: text(settings.get(name, ""), name) for name in names}


def named(record: Record, names: Sequence[str]) -> str:
    """Write the values of the settings that differ, as in ``iterations=6, scale=lite``; nothing where none does."""
    return ", ".join(f"{name}={value}" for name, value in values_of(record, names).items())


def natural(text: str) -> list[Any]:
    """Make a key that sorts names with the numbers in them rising: ``iterations=6`` before ``iterations=10``."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)]


def place(level: object) -> tuple[int, float, Any]:
    """Make a key that sorts levels: numbers rising, then names as the studies list them (``charlm, iterations=6`` as
    charlm), then others by the alphabet, with the numbers in them rising."""
    name = str(level)
    first = re.split("[, ]", name)[0]
    try:
        return 0, float(name), []
    except ValueError:
        return 1, ORDER.index(first) if first in ORDER else len(ORDER), natural(name)


def in_order(levels: Iterable[str]) -> list[str]:
    """Sort levels by ``place``, each once."""
    return sorted(sorted(set(levels)), key=place)  # what ties there (lr0.1, lr0.001) goes by the alphabet


def text(value: object, name: str = "") -> str:
    """Write a setting's value for people; ``name``: of the setting."""
    if name == "protocol" and not value:
        return "corrected"
    if value is None:
        return "usual"
    if isinstance(value, list | tuple):
        return " + ".join(map(text, value)) or "none"
    if isinstance(value, Mapping):
        return " + ".join(f"{key} {text(one)[:8]}" for key, one in value.items()) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
