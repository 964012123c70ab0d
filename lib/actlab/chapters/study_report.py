"""`actlab report`: summary.txt, tidy CSV files, LaTeX tables and figures of a recorded study of any kind. Trains
nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.figure import Figure

from actlab import files
from actlab.chapters.arms import figure_floors
from actlab.chapters.template import MISSING
from actlab.errors import BadInput, UnknownName
from actlab.figures.primitives import Line, lines, points, scatter
from actlab.figures.style import styled
from actlab.records import mnist, repro, settings, summary
from actlab.records import tables as tidy
from actlab.records.labels import METRICS, PAIR_METRICS, of_trials
from actlab.records.store import Record
from actlab.records.summary import Arm, measured
from actlab.records.wording import above_zero, with_interval
from actlab.statistics.estimate import Estimate

FORMATS = ("png", "svg", "pdf")
ACROSS = ("val_loss", "val_accuracy", "total_variation")
"""Metrics that get a table over all groups."""
LABELS = {name: metric.label for name, metric in METRICS.items()} | {"test_accuracy": mnist.LABELS["test_accuracy"]}
FILES = {"val_accuracy": "accuracy", "relative_pd": "reproducibility"}
"""What a metric's figure is called, where not by its name: as the reference study called it."""
Drawing = tuple[str, Callable[[], Figure]]
"""File name without its ending, and the function that draws it."""


@dataclass(frozen=True)
class Report:
    """What is reported: some records of one study, and their tables, arms and tests."""

    study: str
    records: list[Record]
    trials: pd.DataFrame
    pairs: pd.DataFrame
    arms: list[Arm]
    reference: str

    @property
    def groups(self) -> list[str]:
        """Names, in the arms' order."""
        return list(dict.fromkeys(arm.group for arm in self.arms))

    @property
    def levels(self) -> list[str]:
        """Names, in the arms' order."""
        return list(dict.fromkeys(arm.level for arm in self.arms))

    def of(self, group: str) -> list[Arm]:
        """The arms of a group."""
        return [arm for arm in self.arms if arm.group == group]


def load(study: str, models: Sequence[str] = (), activations: Sequence[str] = (), reference: str = "") -> Report:
    """A recorded study, whole or only some models and activations of it.

    Raises:
        BadInput: the study has no records with trials (the message lists the studies that have).
        UnknownName: a model or activation without a record.
    """
    records = tidy.load_records(study)
    for kind, wanted, key in (("model", models, "model_name"), ("activation", activations, "activation")):
        known = {str(record[key]) for record in records if settings.kind_of(record)}
        for name in wanted:
            if name not in known:
                raise UnknownName(kind, name, known, f"results/{study}")
    chosen = [
        record
        for record in records
        if not settings.kind_of(record)
        or (
            record["model_name"] in (models or [record["model_name"]])
            and record["activation"] in (activations or [record["activation"]])
        )
    ]
    if not any(settings.kind_of(record) in settings.MAIN for record in chosen):
        raise BadInput(f"results/{study} has no arm of {', '.join(models)} under {', '.join(activations)}")
    trials, pairs = tidy.of_records(chosen)
    arms = summary.arms(chosen)
    return Report(study, chosen, trials, pairs, arms, summary.reference_of(arms, reference))


def write(report: Report, out: Path, formats: Sequence[str] = ("png",)) -> Iterator[Path]:
    """Write the report into ``out`` and yield each file; ``formats`` of the figures, none for no figures."""
    for name in formats:
        if name not in FORMATS:
            raise UnknownName("format", name, FORMATS)
    tests = summary.against(report.arms, report.reference)
    yield files.write_text(out / "summary.txt", in_words(report, tests))
    csv = {
        "trials": report.trials,
        "pairs": report.pairs,
        "estimates": summary.estimates(report.arms),
        "differences": tests,
    }
    for name, table in csv.items():
        if len(table):
            yield files.write_text(out / f"{name}.csv", table.to_csv(index=False))
    for name, table in latex(report, tests).items():
        yield files.write_text(out / f"{name}.tex", table.to_latex(escape=True))
    for name, figure in drawings(report, tests) if formats else ():
        drawn = figure()
        for ending in formats:
            path = out / f"{name}.{ending}"
            with styled():
                drawn.savefig(path, metadata={"Date": None} if ending == "svg" else None, dpi=rcParams["savefig.dpi"])
            yield path


def in_words(report: Report, tests: pd.DataFrame) -> str:
    """The summary: settings, then group by group parameters, every metric and the tests, then tables over all
    groups."""
    lines = [f"study {report.study}: 95% intervals over trials; n counts trials", *_settings(report), ""]
    for group in report.groups:
        title = "MODEL" if "trials" in set(report.trials["kind"]) else "GROUP"
        lines += [f"{title} {group}", *(f"  {line}" for line in _group(report, group, tests)), ""]
    for metric in (m for m in ACROSS if m in measured(report.arms)):
        lines += [f"ALL: {LABELS[metric]}", across(report, metric).to_string(), ""]
    return "\n".join(lines)


def _settings(report: Report) -> Iterator[str]:
    """What all arms share, what differs, and what the training took."""
    main = [settings.settings_of(r) for r in report.records if settings.kind_of(r) in settings.MAIN]
    names = list(dict.fromkeys(name for own in main for name in own))
    every = {name: list(dict.fromkeys(settings.text(own.get(name, ""), name) for own in main)) for name in names}
    said = [f"{name} {values[0]}" for name, values in every.items() if len(values) == 1]
    differs = [
        f"{name} {' | '.join(sorted(values, key=settings.natural))}"
        for name, values in every.items()
        if len(values) > 1
    ]
    yield f"settings of every arm: {', '.join(said)}"
    if differs:
        yield f"settings that differ between arms: {'; '.join(differs)}"
    spent = report.trials["seconds"].dropna() if "seconds" in report.trials else []
    ended = report.trials["status"].value_counts()
    yield f"trials: {', '.join(f'{count} {status}' for status, count in ended.items())}"
    if len(spent):
        yield f"training and evaluation: {sum(spent):,.0f} s in all, {sum(spent) / len(spent):.3g} s a trial"


def _group(report: Report, group: str, tests: pd.DataFrame) -> Iterator[str]:
    arms = report.of(group)
    sizes = [(arm.level, arm.n_parameters) for arm in arms]
    yield f"parameters: {', '.join(f'{level} {size:,}' for level, size in sizes)}"
    for metric in measured(arms):
        yield _label(report, metric)
        shown = {arm.level: arm.estimate(metric) for arm in arms if metric in arm.metrics}
        for level, estimate in shown.items():
            yield f"  {level:10s} {_shown(metric, estimate)}  n = {estimate.n}"
        if not of_trials(metric) and len(arms) > 1:
            yield f"  {_spread(report, group, metric, shown)}"
        yield from _tested(tests, group, metric)
    for level in report.levels:
        if level not in {arm.level for arm in arms}:
            yield f"{level}: {MISSING}"


def _label(report: Report, metric: str) -> str:
    own = {name: said["label"] for record in report.records for name, said in record.get("metrics", {}).items()}
    return (LABELS | own).get(metric, metric)


def _shown(metric: str, estimate: Estimate) -> str:
    return with_interval(above_zero(estimate) if metric in PAIR_METRICS else estimate)


def _spread(report: Report, group: str, metric: str, shown: Mapping[str, Estimate]) -> str:
    """Mean over the arms, CV% with its interval, lowest and highest."""
    values = {level: estimate.value for level, estimate in shown.items() if not np.isnan(estimate.value)}
    if len(set(values.values())) < 2:
        return "no spread between the arms" if values else "no pair of trials"
    found = above_zero(repro.read(report.records).sensitivity(group, metric)) if metric in METRICS else None
    cv = f", CV% {with_interval(found, 2)}" if found and not np.isnan(found.value) else ""
    low, high = (pick(values, key=lambda level: values[level]) for pick in (min, max))
    return f"mean {sum(values.values()) / len(values):.4f}{cv}, lowest {low}, highest {high}"


def _tested(tests: pd.DataFrame, group: str, metric: str) -> Iterator[str]:
    """The group's differences from the reference in a metric."""
    own = tests[(tests["group"] == group) & (tests["metric"] == metric)] if len(tests) else tests
    for row in own.itertuples():
        star = " *" if row.p_holm < 0.05 else ""
        p = "no test" if np.isnan(row.p) else f"p = {row.p:.2g}, Holm-adjusted {row.p_holm:.2g}{star}"
        interval = "no interval" if np.isnan(row.low) else f"{row.low:+.4f}, {row.high:+.4f}"
        yield f"  {row.difference}: {row.value:+.4f} [{interval}], {p}, n = {row.n}"


def across(report: Report, metric: str) -> pd.DataFrame:
    """One metric over all groups: groups down, levels across, each with its 95% interval and n."""
    cells = {(arm.group, arm.level): arm for arm in report.arms if metric in arm.metrics}
    rows = {
        group: {level: _cell(cells.get((group, level)), metric) for level in report.levels} for group in report.groups
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _cell(arm: Arm | None, metric: str) -> str:
    if arm is None:
        return MISSING
    estimate = arm.estimate(metric)
    return f"{_shown(metric, estimate)}, n = {estimate.n}"


def latex(report: Report, tests: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """File name -> a table of text: each metric over all groups, and the differences from the reference."""
    found = {f"table_{metric}": across(report, metric) for metric in ACROSS if metric in measured(report.arms)}
    if len(tests):
        columns = ["group", "difference", "metric", "value", "low", "high", "n", "p", "p_holm"]
        found["table_differences"] = (
            tests[columns].map(lambda v: f"{v:.4g}" if isinstance(v, float) else v).set_index("group")
        )
    return found


def drawings(report: Report, tests: pd.DataFrame) -> Iterator[Drawing]:
    """Every figure of the report: each metric and its differences from the reference over all arms, loss against
    accuracy, training and noise floors where they are recorded."""
    every = {(arm.group, arm.level): arm for arm in report.arms}
    for metric in measured(report.arms):
        cells = {("", *cell): arm.estimate(metric) for cell, arm in every.items() if metric in arm.metrics}
        yield FILES.get(metric, metric), partial(points, cells, _label(report, metric))
        own = tests[tests["metric"] == metric] if len(tests) else tests
        cells = {("", row.group, row.difference): _estimate(row) for row in own.itertuples()}
        hollow = {("", row.group, row.difference) for row in own.itertuples() if not row.p_holm < 0.05}
        if cells:
            label = f"{_label(report, metric)}: differences (filled: significant, Holm)"
            yield f"differences_{FILES.get(metric, metric)}", partial(points, cells, label, hollow=hollow, zero=True)
    x, y = "val_accuracy", "total_variation"
    both = {cell: [(a.estimate(x), a.estimate(y))] for cell, a in every.items() if {x, y} <= set(a.metrics)}
    if both:
        yield "accuracy_vs_reproducibility", partial(scatter, both, _label(report, x), _label(report, y))
    curves = {cell: found for cell, arm in every.items() if (found := _training(arm))}
    if curves:
        yield "training_curves", partial(lines, curves, "iteration", LABELS["val_loss"])
    kinds = {record.get("kind") for record in report.records}
    if "floor" in kinds:
        grid = repro.read([r for r in report.records if r.get("kind") in ("trials", "floor", "baseline")])
        yield "noise_floor", partial(figure_floors, grid)


def _estimate(row: Any) -> Estimate:
    return Estimate(row.value, row.low, row.high, row.n, 0.95, row.method)


def _training(arm: Arm) -> Line | None:
    """Mean validation loss over the trials of an arm, and their range; None where no history was recorded."""
    histories = [
        {entry["iteration"]: entry.get("val_loss", np.nan) for entry in trial.get("history", [])}
        for trial in arm.record["trials"]
        if trial["status"] == "done"
    ]
    steps = sorted(set.intersection(*map(set, histories))) if histories else []
    values = np.array([[history[step] for step in steps] for history in histories])
    return Line(steps, *(list(end(values, axis=0)) for end in (np.mean, np.min, np.max))) if steps else None


def compare(first: str, second: str) -> tuple[list[str], pd.DataFrame]:
    """(the settings in which two studies differ, one a line; the second minus the first, arm by arm:
    ``summary.compare``)."""
    studies = [load(name) for name in (first, second)]
    own = [[settings.settings_of(r) for r in s.records if settings.kind_of(r) in settings.MAIN] for s in studies]
    names = dict.fromkeys(name for found in own for one in found for name in one)
    values = {
        n: [" | ".join(dict.fromkeys(settings.text(one.get(n, ""), n) for one in found)) for found in own]
        for n in names
    }
    said = [f"{name}: {a} -> {b}" for name, (a, b) in values.items() if a != b]
    return said, summary.compare(*(study.arms for study in studies))
