"""What the explorer shows, published and live: every study's records as arms with coordinates, and the choice among
them. Draws nothing, no torch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from actlab import paths
from actlab.errors import UnknownName
from actlab.records import repro, store
from actlab.records import settings as recorded
from actlab.records.labels import METRICS, PAIR_METRICS, Metric, of_trials
from actlab.records.repro import ArmResults
from actlab.records.store import Record
from actlab.records.tables import load_records
from actlab.statistics.estimate import Estimate

GRID = "repro"
"""The reproducibility grid: its runs lie in ``results/repro-SCALE`` and are one study here, with the scale as a
factor."""
KINDS = {
    "trials": ("Language models", "activation", "character", METRICS),
    "mnist": ("Feed-forward networks", "network", "image", ("val_accuracy", "test_accuracy", "val_loss")),
    "ablation": ("Optimizers and symmetry", "activation", "token", ("val_loss", "val_accuracy")),
}
"""Kind of record -> title, the factor that gets colours, what a loss is of, metrics."""
NAMES = {"varies": "stream", "learning_rate": "rate", "batch_size": "batch"}
"""What a setting is called as a factor, where not by its own name."""
LABELS = {"hidden": "hidden units", "rate": "learning rate", "batch": "batch size", "rate_factor": "rate factor"}
"""What a factor is called where its name does not say it."""
TEST = Metric(
    "test_accuracy", "test accuracy (%)", "share of the test images that get the right class; higher is better"
)


@dataclass(frozen=True)
class Arm:
    """One arm as a point of its study: where it stands, its estimates, and the single values behind them."""

    at: dict[str, str]
    """Factor -> level."""
    labels: list[str]
    """Names of all trials."""
    parameters: int
    estimates: dict[str, Estimate]
    singles: dict[str, list[float]]
    """Metric -> one value a trial, or, for a pair metric, one a pair: the upper triangle, row by row."""
    not_done: list[str] = field(default_factory=list)
    nudge: dict[str, float] = field(default_factory=dict)
    """Pair metric -> its value after one weight was moved by one ULP: the noise floor."""
    steps: list[float] = field(default_factory=list)
    curves: dict[str, list[list[float]]] = field(default_factory=dict)
    """Name of a history column -> one list a trial, as long as ``steps``."""


@dataclass(frozen=True)
class Study:
    """The arms of a study. ``series`` is the factor that gets colours; any other may lie along the axis."""

    name: str
    title: str
    series: str
    metrics: dict[str, Metric]
    arms: list[Arm]
    functions: dict[str, str] = field(default_factory=dict)
    """Level of ``series`` -> name of its activation function."""
    tables: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    """Scale -> "unigram" or "bigram" -> metric -> what that table of characters reaches."""

    settings: dict[str, str] = field(default_factory=dict)
    """Scale -> what its arms have in common."""

    @property
    def factors(self) -> dict[str, list[str]]:
        """Factor -> its levels, in the studies' own order."""
        names = list(self.arms[0].at) if self.arms else []
        return {name: in_order({arm.at[name] for arm in self.arms}) for name in names}

    def choose(self, wanted: Mapping[str, Any] | None = None) -> Choice:
        """A whole choice from parts of one; what ``wanted`` leaves out gets its default.

        Raises:
            UnknownName: a key, factor, level or metric that the study does not have.
        """
        wanted, factors = dict(wanted or {}), self.factors
        series = wanted.pop(self.series, factors[self.series])
        metric = wanted.pop("metric", next(iter(self.metrics)))
        others = [name for name in factors if name != self.series]
        along = wanted.pop("along", others[0])
        _known("metric", [metric], self.metrics)
        _known("factor", [along], others)
        _known(self.series, series, factors[self.series])
        for name, level in wanted.items():
            _known("factor", [name], others)
            _known(name, [level], factors[name])
        return Choice(metric, along, tuple(series), {name: wanted.get(name, factors[name][0]) for name in others})

    def select(self, choice: Choice) -> list[Arm]:
        """The arms of a choice: every level of the factor along the axis, the chosen level of every other one, the
        chosen series."""
        fixed = {name: level for name, level in choice.levels.items() if name != choice.along}
        found = [
            a
            for a in self.arms
            if a.at[self.series] in choice.series and all(a.at[n] == level for n, level in fixed.items())
        ]
        factors = self.factors
        return sorted(found, key=lambda a: [factors[name].index(a.at[name]) for name in (choice.along, self.series)])

    def table(self, choice: Choice) -> pd.DataFrame:
        """The numbers behind the picture of a choice, one row an arm: what the page offers as CSV."""
        return pd.DataFrame([_row(arm, choice.metric) for arm in self.select(choice)])


@dataclass(frozen=True)
class Choice:
    """What is shown: a metric, the factor along the axis, the series, and a level of every other factor."""

    metric: str
    along: str
    series: tuple[str, ...]
    levels: dict[str, str]


def _known(kind: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise UnknownName(kind, name, known)


def _row(arm: Arm, metric: str) -> dict[str, Any]:
    estimate = arm.estimates[metric]
    numbers = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    singles = " ".join(f"{value:.6g}" for value in arm.singles[metric])
    return {**arm.at, "metric": metric, **numbers, "n": estimate.n, "parameters": arm.parameters, "singles": singles}


def in_order(levels: Iterable[str]) -> list[str]:
    """Levels as the studies list them; numbers rising (``33k`` before ``1m``), other names by the alphabet after the
    known ones."""
    known = (*repro.ORDER, "lite", "partial", "full", "quick", "geglu_equal_width", "geglu_equal_parameters")

    def place(level: str) -> tuple[int, float, str]:
        unit = {"k": 1e3, "m": 1e6}.get(level[-1:], 1.0)
        try:
            return 0, float(level[:-1] if unit > 1 else level) * unit, ""
        except ValueError:
            return 1, known.index(level) if level in known else len(known), level

    return sorted(levels, key=place)


def studies(names: Sequence[str] | None = None) -> list[Study]:
    """The studies in the results folder that can be explored; ``names`` (folders) chooses among them.

    Raises:
        UnknownName: a folder that is not there.
        BadInput: one without trials.
    """
    folders = (
        sorted(path.name for path in paths.results().glob("*") if path.is_dir()) if paths.results().exists() else []
    )
    _known("study", names or (), folders)
    return of_records({name: load_records(name) if names else store.load_study(name) for name in names or folders})


def of_records(folders: Mapping[str, Sequence[Record]]) -> list[Study]:
    """The studies in some folders' records, the grid first; a folder with nothing to explore gives none."""
    found = []
    for kind in KINDS:
        parts: dict[str, dict[str, Sequence[Record]]] = {}
        for folder, records in folders.items():
            if any(record["kind"] == kind for record in records):
                name = GRID if kind == "trials" and folder.startswith(f"{GRID}-") else folder
                parts.setdefault(name, {})[folder] = records
        found += [_study_of(kind, name, parts[name]) for name in sorted(parts, key=lambda name: name != GRID)]
    return found


def _study_of(kind: str, name: str, parts: Mapping[str, Sequence[Record]]) -> Study:
    """Some folders' records of one kind as one study; of several folders each arm has a scale."""
    title, series, unit, names = KINDS[kind]
    arms: list[Arm] = []
    tables: dict[str, Any] = {}
    settings: dict[str, str] = {}
    for folder, records in parts.items():
        apart = recorded.differing(records)
        grid = repro.read(records if kind == "trials" else [])
        read = {arm.record["arm"]: arm for arm in grid.arms.values()}
        for record in (r for r in records if r["kind"] == kind and (r["arm"] in read or kind != "trials")):
            further = recorded.levels(record, apart)
            if name == GRID:
                further = {"scale": repro.labelled(folder.removeprefix(f"{GRID}-"), recorded.named(record, apart))}
            at = {NAMES.get(n, n): recorded.text(v) for n, v in (recorded.cell_of(record) | further).items()}
            arms.append(_arm_of(read.get(record["arm"], ArmResults(record)), at))
            if kind == "trials":
                tables[at.get("scale", "")] = {n: v for n, v in grid.baseline.items() if n in ("unigram", "bigram")}
                settings.setdefault(at.get("scale", ""), _settings(record))
    metrics = {
        m: replace(METRICS.get(m, TEST), label=METRICS.get(m, TEST).label.replace("character", unit)) for m in names
    }
    shown = "Reproducibility grid" if name == GRID else f"{title}: {name}"
    functions = {arm.at[series]: arm.at[series].split("_equal_")[0] for arm in arms}
    return Study(name, shown, series, metrics, arms, functions, tables, settings)


def _settings(record: Record) -> str:
    config, recipe = record["config"], record["config"]["recipe"]
    return (
        f"{config['dataset']}, {recipe['iterations']} iterations of {recipe['batch_size']} windows, "
        f"learning rate {recipe['learning_rate']:g}"
    )


def _arm_of(arm: ArmResults, at: dict[str, str]) -> Arm:
    """One recorded arm as a point of its study."""
    names, pairs = KINDS[arm.record["kind"]][3], np.triu_indices(len(arm.labels), 1)
    histories = [{entry["iteration"]: entry for entry in trial.get("history", [])} for trial in arm.record["trials"]]
    steps = sorted({step for history in histories for step in history})
    return Arm(
        at=at,
        labels=arm.labels,
        parameters=arm.n_parameters,
        estimates={name: arm.shown(name) for name in names},
        singles={n: (arm.values(n) if of_trials(n) else arm.matrix(n)[pairs]).tolist() for n in names},
        not_done=arm.not_done,
        nudge={name: arm.floor_of(name, "nudge") for name in PAIR_METRICS} if arm.floor else {},
        steps=[float(step) for step in steps],
        curves={
            name: [[history.get(step, {}).get(name, math.nan) for step in steps] for history in histories]
            for name in ("val_loss", "train_loss")
            if any(name in entry for history in histories for entry in history.values())
        },
    )
