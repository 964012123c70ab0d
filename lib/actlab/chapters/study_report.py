"""`actlab report`: summary.txt, tidy CSV files, LaTeX tables and figures of a recorded study of any kind. Trains
nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.figure import Figure

from actlab import files
from actlab.chapters.arms import figure_floors
from actlab.chapters.template import MISSING
from actlab.errors import BadInput, UnknownName
from actlab.figures.primitives import line, lines, points, scatter
from actlab.figures.style import styled
from actlab.records import repro, settings, summary
from actlab.records import tables as tidy
from actlab.records.estimates import ALPHA
from actlab.records.labels import EVERY, METRICS, of_trials
from actlab.records.repro import ArmResults, Grid
from actlab.records.store import Record
from actlab.records.wording import above_zero, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import coefficient_of_variation, mean_interval

FORMATS = ("png", "svg", "pdf")
ACROSS = ("val_loss", "val_accuracy", "total_variation")
"""Metrics that get a table over all groups."""
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
    grid: Grid
    reference: str

    @cached_property
    def metrics(self) -> list[str]:
        """What the study measured."""
        return summary.metrics(self.trials, self.pairs)

    @cached_property
    def tests(self) -> pd.DataFrame:
        """Every difference from the reference (``summary.against``)."""
        return summary.against(self.grid, self.reference, self.metrics)


def load(study: str, models: Sequence[str] = (), activations: Sequence[str] = (), reference: str = "") -> Report:
    """A recorded study, whole or only some models and activations of it.

    Raises:
        BadInput: the study has no records with trials (the message lists the studies that have).
        UnknownName: a model, or an activation of the chosen models, without a record.
    """
    records = tidy.load_records(study)
    for kind, wanted, key in (("model", models, "model_name"), ("activation", activations, "activation")):
        known = {str(record[key]) for record in records if settings.kind_of(record)}
        for name in wanted:
            if name not in known:
                raise UnknownName(kind, name, known, f"results/{study}")
        records = [r for r in records if not (wanted and settings.kind_of(r)) or r[key] in wanted]
    grid = repro.read(records)
    if not grid.arms:
        raise BadInput(f"results/{study} has perturbed trials alone")
    return Report(study, records, *tidy.of_records(records), grid, summary.reference_of(grid, reference))


def write(report: Report, out: Path, formats: Sequence[str] = ("png",)) -> Iterator[Path]:
    """Write the report into ``out`` and yield each file; ``formats`` of the figures, none for no figures."""
    for name in formats:
        if name not in FORMATS:
            raise UnknownName("format", name, FORMATS)
    yield files.write_text(out / "summary.txt", in_words(report))
    csv = {
        "trials": report.trials,
        "pairs": report.pairs,
        "estimates": summary.estimates(report.grid, report.metrics),
        "differences": report.tests,
    }
    for name, table in csv.items():
        if len(table):
            yield files.write_text(out / f"{name}.csv", table.to_csv(index=False))
    for name, table in latex(report).items():
        yield files.write_text(out / f"{name}.tex", table.to_latex(escape=True))
    for name, figure in drawings(report) if formats else ():
        drawn = figure()
        for ending in formats:
            path = out / f"{name}.{ending}"
            with styled():
                drawn.savefig(path, metadata={"Date": None} if ending == "svg" else None, dpi=rcParams["savefig.dpi"])
            yield path


def in_words(report: Report) -> str:
    """The summary: settings, then group by group parameters, every metric and the tests, then tables over all
    groups."""
    lines = [f"study {report.study}: 95% intervals over trials; n counts trials", *_settings(report), ""]
    for group in report.grid.models:
        title = "MODEL" if "trials" in set(report.trials["kind"]) else "GROUP"
        lines += [f"{title} {group}", *(f"  {line}" for line in _group(report, group)), ""]
    for metric in (m for m in ACROSS if m in report.metrics):
        lines += [f"ALL: {EVERY[metric].label}", across(report, metric).to_string(), ""]
    return "\n".join(lines)


def _levels(records: Sequence[Record], names: Sequence[str] = ()) -> dict[str, list[str]]:
    """Setting -> its different values over a study's arms, as text; ``names`` are asked for first."""
    main = [settings.settings_of(record) for record in records if settings.kind_of(record) in settings.MAIN]
    every = dict.fromkeys([*names, *(name for own in main for name in own)])
    return {n: list(dict.fromkeys(settings.text(own.get(n, ""), n) for own in main)) for n in every}


def _settings(report: Report) -> Iterator[str]:
    """What all arms share, what differs, and what the training took."""
    every = _levels(report.records).items()
    yield f"settings of every arm: {', '.join(f'{name} {values[0]}' for name, values in every if len(values) == 1)}"
    differ = [f"{name} {' | '.join(sorted(v, key=settings.natural))}" for name, v in every if len(v) > 1]
    if differ:
        yield f"settings that differ between arms: {'; '.join(differ)}"
    ended, spent = report.trials["status"].value_counts(), report.trials.get("seconds", pd.Series(dtype=float)).dropna()
    yield f"trials: {', '.join(f'{count} {status}' for status, count in ended.items())}"
    if len(spent):
        yield f"training and evaluation: {spent.sum():,.0f} s in all, {spent.mean():.3g} s a trial"


def _group(report: Report, group: str) -> Iterator[str]:
    arms = report.grid.of_model(group)
    yield f"parameters: {', '.join(f'{arm.level} {arm.n_parameters:,}' for arm in arms)}"
    for metric in report.metrics:
        yield _label(report, metric)
        yield from (f"  {arm.level:10s} {_shown(arm, metric, '  ')}" for arm in arms)
        if not of_trials(metric) and len(arms) > 1:
            yield f"  {_spread(arms, metric)}"
        yield from _tested(report.tests, group, metric)
    yield from (f"{level}: {MISSING}" for model, level in report.grid.missing if model == group)


def _label(report: Report, metric: str) -> str:
    own = (record.get("metrics", {}).get(metric) for record in report.records)
    return EVERY[metric].label if metric in EVERY else next((said["label"] for said in own if said), metric)


def _shown(arm: ArmResults, metric: str, before: str) -> str:
    return f"{with_interval(arm.shown(metric))}{before}n = {arm.estimate(metric).n}"


def _spread(arms: Sequence[ArmResults], metric: str) -> str:
    """Mean over the arms, CV% with its interval, lowest and highest."""
    values = {arm.level: value for arm in arms if not np.isnan(value := arm.estimate(metric).value)}
    if len(set(values.values())) < 2:
        return "no spread between the arms" if values else "no pair of trials"
    found = above_zero(repro.combined(arms, metric, coefficient_of_variation))
    cv = "" if np.isnan(found.value) else f", CV% {with_interval(found, 2)}"
    low, high = (pick(values, key=lambda level: values[level]) for pick in (min, max))
    return f"mean {np.mean(list(values.values())):.4f}{cv}, lowest {low}, highest {high}"


def _tested(tests: pd.DataFrame, group: str, metric: str) -> Iterator[str]:
    """The group's differences from the reference in a metric."""
    for row in tests[(tests["group"] == group) & (tests["metric"] == metric)].itertuples() if len(tests) else ():
        star = " *" * (row.p_holm < ALPHA)
        p = "no test" if np.isnan(row.p) else f"p = {row.p:.2g}, Holm-adjusted {row.p_holm:.2g}{star}"
        interval = "no interval" if np.isnan(row.low) else f"{row.low:+.4f}, {row.high:+.4f}"
        yield f"  {row.difference}: {row.value:+.4f} [{interval}], {p}, n = {row.n}"


def across(report: Report, metric: str) -> pd.DataFrame:
    """One metric over all groups: groups down, levels across, each with its 95% interval and n."""
    rows: dict[str, dict[str, str]] = {}
    for arm in report.grid.arms.values():
        rows.setdefault(arm.model, {})[arm.level] = _shown(arm, metric, ", ")
    return pd.DataFrame.from_dict(rows, orient="index").fillna(MISSING)


def latex(report: Report) -> dict[str, pd.DataFrame]:
    """File name -> a table of text: each metric over all groups, and the differences from the reference."""
    found = {f"table_{metric}": across(report, metric) for metric in ACROSS if metric in report.metrics}
    if len(report.tests):
        columns = ["group", "difference", "metric", "value", "low", "high", "n", "p", "p_holm"]
        found["table_differences"] = (
            report.tests[columns].map(lambda v: f"{v:.4g}" if isinstance(v, float) else v).set_index("group")
        )
    return found


def drawings(report: Report) -> Iterator[Drawing]:
    """Every figure of the report: each metric and its differences from the reference over all arms, loss against
    accuracy, training and noise floors where they are recorded."""
    every = {(arm.model, arm.level): arm for arm in report.grid.arms.values()}
    for metric in report.metrics:
        cells = {("", *cell): arm.estimate(metric) for cell, arm in every.items()}
        yield FILES.get(metric, metric), partial(points, cells, _label(report, metric))
        own = [test for test in report.tests.itertuples() if test.metric == metric]
        cells = {("", t.group, t.difference): Estimate(t.value, t.low, t.high, t.n, t.method) for t in own}
        hollow = {("", t.group, t.difference) for t in own if not t.p_holm < ALPHA}
        if cells:
            label = f"{_label(report, metric)}: differences (filled: significant, Holm)"
            yield f"differences_{FILES.get(metric, metric)}", partial(points, cells, label, hollow=hollow, zero=True)
    x, y = "val_accuracy", "total_variation"
    if {x, y} <= set(report.metrics):
        both = {cell: [(arm.estimate(x), arm.estimate(y))] for cell, arm in every.items()}
        yield "accuracy_vs_reproducibility", partial(scatter, both, METRICS[x].label, METRICS[y].label)
    curves = {
        cell: line({step: mean_interval(values[:, i]) for i, step in enumerate(steps)})
        for cell, arm in every.items()
        for steps, values in [arm.curve("val_loss")]
        if len(steps)
    }
    if curves:
        yield "training_curves", partial(lines, curves, "iteration", METRICS["val_loss"].label)
    if any(arm.floor for arm in every.values()):
        yield "noise_floor", partial(figure_floors, report.grid)


def compare(first: str, second: str) -> tuple[list[str], pd.DataFrame]:
    """(the settings in which two studies differ, one a line; the second minus the first, arm by arm:
    ``summary.compare``)."""
    one, two = load(first), load(second)
    names = list(_levels(one.records) | _levels(two.records))
    before, after = (_levels(study.records, names) for study in (one, two))
    both = [metric for metric in one.metrics if metric in two.metrics]
    differ = [f"{n}: {' | '.join(before[n])} -> {' | '.join(after[n])}" for n in names if before[n] != after[n]]
    return differ, summary.compare(one.grid, two.grid, both)
