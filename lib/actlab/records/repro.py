"""A study of any kind as read from records, a grid of arms: from each arm's trials and pairs to estimates with
intervals. Draws nothing, trains nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from actlab.records import settings, store
from actlab.records.labels import IMAGE_METRICS, PAIR_METRICS, TRIAL_METRICS, Metric, of_trials
from actlab.records.store import Record
from actlab.records.tables import used
from actlab.statistics.equal_loss import Curves
from actlab.statistics.estimate import Array, Estimate, few_differ
from actlab.statistics.means import (
    Chosen,
    jackknife,
    mean_interval,
    pair_mean,
    pair_mean_difference,
    paired_difference,
)


def matrix(labels: Sequence[str], pairs: Iterable[Record], metric: str) -> Array:
    """(M, M) symmetric: a metric of every two of M trials, from entries with ``between``; NaN where there is none, and
    on the diagonal."""
    place = {label: i for i, label in enumerate(labels)}
    out = np.full((len(place), len(place)), np.nan)
    for pair in pairs:
        if {*pair["between"]} <= {*place}:
            i, j = (place[label] for label in pair["between"])
            out[i, j] = out[j, i] = pair.get(metric, np.nan)
    return out


def mean_of_pairs(pairs: Iterable[Record], metric: str, kept: Chosen) -> float:
    """Over the pairs of trials, or of ensembles of some, all of whose trials are kept; NaN where there is none."""
    found = [pair.get(metric, np.nan) for pair in pairs if {*np.ravel(pair["between"])} <= {*kept}]
    return float(np.mean(found)) if found else float("nan")


def changed(record: Record | None, variant: str) -> dict[int, Record]:
    """Seed -> the pair of its trial and the same seed changed."""
    found = {}
    for pair in record["reproducibility_metrics"] if record else []:
        seed = pair["between"][1].partition("-")[0]
        if pair["between"] == [seed, f"{seed}-{variant}"]:
            found[int(seed)] = pair
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class ArmResults:
    """One arm: its record, and its noise floor's record where there is one."""

    record: Record
    floor: Record | None = None
    group: str = ""
    """Its row in a grid; its model's name unless given."""

    @property
    def model(self) -> str:
        """Name of the model, with the setting where arms of several are read together: ``charlm, iterations=6``; in
        other kinds of studies the levels of all factors but the one that is compared."""
        return self.group or str(self.record["model_name"])

    @property
    def activation(self) -> str:
        """Name of the activation."""
        return str(self.record["activation"])

    @property
    def level(self) -> str:
        """Of the factor that the study compares; with the activation that the network had, where a published defect
        ignored this one."""
        ignored = f" (ignored: {real})" if (real := used(self.record)) != self.activation else ""
        return f"{_level(self.record)}{ignored}"

    @property
    def varies(self) -> str:
        """The random stream in which its trials differ; ``all`` where they differ in every one."""
        return str(self.record["config"].get("varies", "all"))

    @property
    def labels(self) -> list[str]:
        """Names of all trials, ended well or not."""
        return [trial["label"] for trial in self.record["trials"]]

    @property
    def recipe(self) -> Record:
        """How its trials were trained."""
        return dict(self.record["config"]["recipe"])

    @property
    def n_parameters(self) -> int:
        """Trainable parameters."""
        return next(
            (int(t["n_parameters"]) for t in self.record["trials"] if "n_parameters" in t),
            int(self.record.get("n_parameters", 0)),
        )

    @property
    def done(self) -> list[str]:
        """Names of the trials that ended well."""
        return [trial["label"] for trial in self.record["trials"] if trial["status"] == "done"]

    @property
    def not_done(self) -> list[str]:
        """``label: status`` of every trial that diverged or failed."""
        return [f"{t['label']}: {t['status']}" for t in self.record["trials"] if t["status"] != "done"]

    def values(self, metric: str, labels: Iterable[str] | None = None) -> Array:
        """(M,) a trial metric, one value a trial, of all or of those named; NaN for a trial that is not done."""
        found = {
            t["label"]: {**t, **t.get("final", {}), "best_val_loss": t.get("best", {}).get("val_loss", np.nan)}
            for t in self.record["trials"]
            if t["status"] == "done"
        }
        chosen = self.labels if labels is None else labels
        return np.array([found.get(label, {}).get(metric, np.nan) for label in chosen], float)

    def matrix(self, metric: str, labels: Sequence[str] | None = None) -> Array:
        """(M, M) symmetric: a pair metric of every two trials, of all or of those named; NaN where there is none."""
        return matrix(self.labels if labels is None else labels, self.record.get("reproducibility_metrics", []), metric)

    @property
    def snapshots(self) -> dict[int, Record]:
        """Iteration -> ``trials`` and ``pairs`` there, and ``as_published`` where they were read so; the last is the
        end."""
        trials = [{"label": t["label"], **t["final"]} for t in self.record["trials"] if t["status"] == "done"]
        end = {"trials": trials, "pairs": self.record["reproducibility_metrics"]}
        end |= {"as_published": self.record.get("as_published")}
        last = int(self.recipe["iterations"])
        return {int(entry["iteration"]): entry for entry in self.record.get("trajectory", [])} | {last: end}

    def curves(self, metric: str) -> Curves:
        """Losses and a pair metric at the snapshots, for ``statistics.equal_loss``."""
        found = self.snapshots.values()
        losses = [{trial["label"]: trial["val_loss"] for trial in entry["trials"]} for entry in found]
        return Curves(
            np.array([[of.get(label, np.nan) for label in self.labels] for of in losses]),
            np.array([matrix(self.labels, entry["pairs"], metric) for entry in found]),
        )

    def mean(self, metric: str, seeds: Chosen) -> float:
        """Of some trials, or over their pairs."""
        if of_trials(metric):
            return float(self.values(metric, seeds).mean())
        return mean_of_pairs(self.record["reproducibility_metrics"], metric, seeds)

    def estimate(self, metric: str) -> Estimate:
        """Mean with a 95% interval over trials (t for trial metrics, jackknife over trials for pair metrics)."""
        return mean_interval(self.values(metric)) if of_trials(metric) else pair_mean(self.matrix(metric))

    def shown(self, metric: str) -> Estimate:
        """The estimate for tables, sentences and error bars: a pair metric's interval on a log scale, or none where too
        few trials differ."""
        found = self.estimate(metric)
        if of_trials(metric):
            return found
        few = replace(
            found,
            low=float("nan"),
            high=float("nan"),
        )
        pairs = self.matrix(metric, self.done)
        return few if few_differ(pairs[np.triu_indices(len(pairs), 1)]) else found.above_zero()

    def minus(self, other: ArmResults, metric: str) -> Estimate:
        """This arm minus another, paired by the seeds that both have."""
        shared = [label for label in self.labels if label in other.labels]
        if of_trials(metric):
            return paired_difference(self.values(metric, shared), other.values(metric, shared))
        return pair_mean_difference(self.matrix(metric, shared), other.matrix(metric, shared))

    def floor_of(self, metric: str, variant: str) -> float:
        """The metric between the first trial and the same seed run again (``repeat``) or with a 1-ULP perturbation
        (``nudge``); NaN if not run."""
        return next((float(pair[metric]) for pair in changed(self.floor, variant).values()), float("nan"))

    def curve(self, name: str) -> pd.DataFrame:
        """What every trial measured while it was trained: a column an iteration, a row a trial; NaN after one that
        stopped early."""
        histories = {
            t["label"]: pd.Series({float(e["iteration"]): e[name] for e in t.get("history", [])}, dtype=float)
            for t in self.record["trials"]
        }
        return pd.DataFrame(histories).sort_index().T

    def minus_through(self, other: ArmResults) -> dict[float, Estimate]:
        """Iteration -> this arm's validation loss minus another's, at the evaluations and seeds of both."""
        first, second = self.curve("val_loss").align(other.curve("val_loss"), join="inner")
        return {step: paired_difference(first[step], second[step]) for step in first}


@dataclass(frozen=True)
class Grid:
    """The arms of a study by (model, activation), in the order asked for; one without a record has no entry.

    In a study of another kind a row is what ``ArmResults.model`` says, and a column a level of the factor compared.
    """

    study: str
    models: tuple[str, ...]
    activations: tuple[str, ...]
    arms: dict[tuple[str, str], ArmResults]
    baseline: Record
    """The study's baseline record; empty where it has none."""

    @property
    def kind(self) -> str:
        """Of its records."""
        return next((str(arm.record["kind"]) for arm in self.arms.values()), "")

    @property
    def metrics(self) -> dict[str, Metric]:
        """Every metric that some arm has measured, by name, in the order of tables: of pairs, a user's own ones after
        the built-in, then of trials."""
        arms = self.arms.values()
        own = {
            n: Metric(n, said["label"], said["note"]) for a in arms for n, said in a.record.get("metrics", {}).items()
        }
        known = PAIR_METRICS | own | TRIAL_METRICS | IMAGE_METRICS
        measured = {n: m for n, m in known.items() if not all(np.isnan(arm.estimate(n).value) for arm in arms)}
        return {name: metric.of_kind(self.kind) for name, metric in measured.items()}

    def couples(self, reference: str) -> dict[tuple[str, str], tuple[ArmResults, ArmResults]]:
        """(model, activation) -> the arm, and the reference's of its model: of every other arm that has one."""
        return {
            (model, activation): (arm, self.arms[model, reference])
            for (model, activation), arm in self.arms.items()
            if activation != reference and (model, reference) in self.arms
        }

    def of_model(self, model: str) -> list[ArmResults]:
        """The recorded arms of a model."""
        return [self.arms[model, a] for a in self.activations if (model, a) in self.arms]


def shared(arms: Sequence[ArmResults]) -> Chosen:
    """The seeds that every one of the arms has done."""
    return np.array([label for label in arms[0].labels if all(label in arm.done for arm in arms)] if arms else [])


def combined(arms: Sequence[ArmResults], metric: str, combine: Callable[[Array], float]) -> Estimate:
    """A function of the (A,) means of several arms that share seeds, with a jackknife that leaves one seed at a time
    out of all of them; NaN below two seeds that every arm has done."""
    return jackknife(lambda seeds: combine(np.array([arm.mean(metric, seeds) for arm in arms])), shared(arms))


def read(
    records: Iterable[Record], models: Sequence[str] | None = None, activations: Sequence[str] | None = None
) -> Grid:
    """A grid from records; ``models`` and ``activations`` choose and order, everything in the records unless given.

    Arms that differ in further settings stand in rows of their own, as models named ``charlm, iterations=6``.
    """
    records = list(records)
    baseline = next((r for r in records if r["kind"] == "baseline"), {})
    records = [r for r in records if r["kind"] in (*settings.MAIN, "floor")]
    names = settings.differing(records)
    main, floors = (
        {(_row(r, names), _level(r)): r for r in records if (r["kind"] == "floor") == floor} for floor in (False, True)
    )
    present = settings.in_order(row for row, _ in main)
    rows = present if models is None else [row for model in models for row in _rows(model, present)]
    levels = settings.in_order(level for _, level in main) if activations is None else activations
    wanted = [(row, level) for row in rows for level in levels if (row, level) in main]
    arms = {key: ArmResults(main[key], floors.get(key), key[0]) for key in wanted}
    return Grid(records[0]["study"] if records else "", tuple(rows), tuple(levels), arms, baseline)


def read_study(study: str) -> Grid:
    """The grid of everything that is recorded of a study."""
    return read(store.load_study(study))


SHORT = {"hidden": "h", "learning_rate": "lr", "batch_size": "b", "rate_factor": "x"}


def _row(record: Record, names: Sequence[str]) -> str:
    """The record's levels of all factors but the one that is compared, and of the settings that differ."""
    cell, (others, _) = settings.cell_of(record), settings.factors(record["kind"])
    levels = [f"{SHORT[name]}{cell[name]:g}" if name in SHORT else str(cell[name]) for name in others]
    return ", ".join([*levels, *filter(None, [settings.named(record, names)])])


def _level(record: Record) -> str:
    return str(settings.cell_of(record)[settings.factors(record["kind"])[1]])


def _rows(model: str, present: Sequence[str]) -> list[str]:
    """The rows of a model, one a setting; its own name where nothing of it is recorded."""
    return [row for row in present if row.partition(", ")[0] == model] or [model]
