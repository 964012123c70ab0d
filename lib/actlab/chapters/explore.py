"""What the explorer shows, published and live: every study's records as arms with coordinates, and the choice among
them. Draws nothing, no torch."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from actlab import paths
from actlab.errors import UnknownName
from actlab.records import mnist, repro, store
from actlab.records import settings as recorded
from actlab.records.repro import METRICS, PAIR_METRICS, ArmResults, Metric
from actlab.records.store import Record
from actlab.records.tables import load_records
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval

GRID = "repro"
"""The reproducibility grid: its runs lie in ``results/repro-SCALE`` and are one study here, with the scale as a
factor."""
SWEEP_METRICS = {
    name: Metric(name, label, note)
    for name, label, note in (
        (
            "val_accuracy",
            mnist.LABELS["val_accuracy"],
            "share of the held-out images that get the right class; higher is better",
        ),
        ("test_accuracy", mnist.LABELS["test_accuracy"], "the same on the test images; higher is better"),
        ("val_loss", "validation loss (nats per image)", "cross-entropy on the held-out images; lower is better"),
    )
}
ABLATION_METRICS = {
    "val_loss": Metric(
        "val_loss",
        "validation loss (nats per token)",
        "cross-entropy on the validation windows at the end; lower is better",
    ),
    "val_accuracy": Metric(
        "val_accuracy", "validation accuracy (%)", "share of tokens predicted right; higher is better"
    ),
}
FACTORS = {"varies": "stream"}
"""What a setting in which arms differ is called as a factor, where not by its own name."""
LABELS = {"hidden": "hidden units", "rate": "learning rate", "batch": "batch size", "rate_factor": "rate factor"}
"""What a factor is called where its name does not say it."""


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
    """Levels as the studies list them; numbers rising, other names by the alphabet after the known ones."""

    def place(level: str) -> tuple[int, float, str]:
        known = (*repro.ORDER, "lite", "partial", "full", "quick", "geglu_equal_width", "geglu_equal_parameters")
        try:
            return 0, float(level), ""
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
    """The studies in some folders' records; a folder with nothing to explore gives none."""
    found = [*_grids({name: r for name, r in folders.items() if _has(r, "trials")})]
    found += [_sweep(name, records) for name, records in folders.items() if _has(records, "mnist")]
    found += [_ablation(name, records) for name, records in folders.items() if _has(records, "ablation")]
    return found


def _has(records: Sequence[Record], kind: str) -> bool:
    return any(record["kind"] == kind for record in records)


def _grids(folders: Mapping[str, Sequence[Record]]) -> Iterable[Study]:
    """Studies of language models: the grid's runs as one study with a scale, any other folder by itself."""
    runs = {name: records for name, records in folders.items() if name.startswith(f"{GRID}-")}
    alone = {name: {name: records} for name, records in folders.items() if name not in runs}
    for name, parts in {GRID: runs, **alone}.items():
        read = {folder: repro.read(records) for folder, records in parts.items()}
        found = [
            (_grid_arm(arm, _further(arm, folder, records)), arm, folder)
            for folder, records in parts.items()
            for arm in read[folder].arms.values()
        ]
        if found:
            tables = {arm.at.get("scale", ""): _tables(read[folder].baseline) for arm, _, folder in found}
            settings = {arm.at.get("scale", ""): _settings(result) for arm, result, _ in reversed(found)}
            title = "Reproducibility grid" if name == GRID else f"Language models: {name}"
            arms = [arm for arm, _, _ in found]
            yield Study(name, title, "activation", METRICS, arms, _same(arms, "activation"), tables, settings)


def _further(arm: ArmResults, folder: str, records: Sequence[Record]) -> dict[str, str]:
    """Coordinates beside model and activation: settings in which a study's arms differ; of the grid's runs one, the
    scale with those settings."""
    names = recorded.differing(records)
    if folder.startswith(f"{GRID}-"):
        return {"scale": repro.labelled(folder.removeprefix(f"{GRID}-"), recorded.named(arm.record, names))}
    return {FACTORS.get(name, name): value for name, value in recorded.levels(arm.record, names).items()}


def _tables(baseline: Record) -> dict[str, dict[str, float]]:
    return {name: values for name, values in baseline.items() if name in ("unigram", "bigram")}


def _settings(arm: ArmResults) -> str:
    config, recipe = arm.record["config"], arm.record["config"]["recipe"]
    return f"{config['dataset']}, {recipe['iterations']} iterations of {recipe['batch_size']} windows, learning rate {recipe['learning_rate']:g}"


def _same(arms: Iterable[Arm], series: str) -> dict[str, str]:
    return {arm.at[series]: arm.at[series] for arm in arms}


def _grid_arm(arm: ArmResults, also: dict[str, str]) -> Arm:
    pairs = np.triu_indices(len(arm.labels), 1)
    singles = {name: arm.matrix(name)[pairs] if name in PAIR_METRICS else arm.values(name) for name in METRICS}
    return Arm(
        at={"model": str(arm.record["model_name"]), "activation": arm.activation} | also,
        labels=arm.labels,
        parameters=arm.n_parameters,
        estimates={name: arm.shown(name) for name in METRICS},
        singles={name: values.tolist() for name, values in singles.items()},
        not_done=arm.not_done,
        nudge={name: arm.floor_of(name, "nudge") for name in PAIR_METRICS} if arm.floor else {},
        steps=arm.curve("val_loss")[0].tolist(),
        curves={name: arm.curve(name)[1].tolist() for name in ("val_loss", "train_loss")},
    )


def _sweep(name: str, records: Sequence[Record]) -> Study:
    factors = ["network", "hidden", "rate", "batch"]
    names = recorded.differing(records)
    arms = [
        Arm(
            at={factor: _level(level) for factor, level in zip(factors, levels, strict=True)}
            | recorded.levels(group[0], names),
            labels=[str(seed) for seed in trials["seed"]],
            parameters=int(trials["n_parameters"].iloc[0]),
            estimates={metric: mean_interval(trials[metric]) for metric in SWEEP_METRICS},
            singles={metric: trials[metric].tolist() for metric in SWEEP_METRICS},
            not_done=[f"{t.seed}: {t.status}" for t in trials.itertuples() if t.status != "done"],
        )
        for group in recorded.by_setting(records).values()
        for levels, trials in mnist.table(group).sort_values("seed").groupby(factors)
    ]
    functions = {arm.at["network"]: arm.at["network"].split("_equal_")[0] for arm in arms}
    return Study(name, f"Feed-forward networks: {name}", "network", SWEEP_METRICS, arms, functions)


def _ablation(name: str, records: Sequence[Record]) -> Study:
    names = recorded.differing(records)
    arms = [_ablation_arm(record, recorded.levels(record, names)) for record in records if record["kind"] == "ablation"]
    return Study(
        name, f"Optimizers and symmetry: {name}", "activation", ABLATION_METRICS, arms, _same(arms, "activation")
    )


def _ablation_arm(record: Record, also: dict[str, str]) -> Arm:
    trials = record["trials"]
    done = [t["final"] if t["status"] == "done" else {} for t in trials]
    scores = {metric: [float(final.get(metric, math.nan)) for final in done] for metric in ABLATION_METRICS}
    histories = [{e["iteration"]: e.get("val_loss", math.nan) for e in t.get("history", [])} for t in trials]
    steps = sorted({step for history in histories for step in history})
    return Arm(
        at={factor: _level(record[factor]) for factor in ("activation", "optimizer", "symmetry", "rate_factor")} | also,
        labels=[t["label"] for t in trials],
        parameters=int(record["n_parameters"]),
        estimates={metric: mean_interval(values) for metric, values in scores.items()},
        singles=scores,
        not_done=[f"{t['label']}: {t['status']}" for t in trials if t["status"] != "done"],
        steps=[float(step) for step in steps],
        curves={"val_loss": [[history.get(step, math.nan) for step in steps] for history in histories]},
    )


def _level(value: object) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def catalogue(
    found: Iterable[Study], functions: Mapping[str, Sequence[ArrayLike]], styles: Mapping[str, Any]
) -> dict[str, Any]:
    """Everything that the page needs as plain values, NaN as ``None``, six significant digits.

    Args:
        found: the studies.
        functions: name of an activation -> x, f(x), f'(x).
        styles: level of a series -> how it is drawn.
    """
    found = list(found)
    used = {name for study in found for name in study.functions.values()}
    shown = {level for study in found for level in study.functions}
    curves = {
        name: dict(zip(("x", "value", "slope"), map(_plain, map(np.asarray, c)), strict=True))
        for name, c in functions.items()
        if name in used
    }
    return {
        "studies": {study.name: _study(study) for study in found},
        "functions": curves,
        "styles": {level: styles[level] for level in in_order(shown)},
    }


def _study(study: Study) -> dict[str, Any]:
    return {
        "title": study.title,
        "series": study.series,
        "factors": {
            name: {"label": LABELS.get(name, name), "levels": levels} for name, levels in study.factors.items()
        },
        "metrics": {
            m.name: {"label": m.label, "note": m.note, "pairs": m.name in PAIR_METRICS} for m in study.metrics.values()
        },
        "functions": study.functions,
        "tables": _plain(study.tables),
        "settings": study.settings,
        "arms": [_plain(_arm(arm)) for arm in study.arms],
    }


def _arm(arm: Arm) -> dict[str, Any]:
    estimates = {name: [e.value, e.low, e.high, e.n] for name, e in arm.estimates.items()}
    return {**vars(arm), "estimates": estimates}


def _plain(value: Any) -> Any:
    """Plain values for JSON: arrays as lists, NaN as ``None``, floats short."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value


def as_json(catalogue: Mapping[str, Any]) -> str:
    """The compact JSON text of a catalogue, safe inside a ``script`` element."""
    return json.dumps(catalogue, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")
