"""`actlab report`: summary.txt, tidy CSV files, LaTeX tables and figures of a recorded study of any kind. Trains
nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.figure import Figure

from actlab import files, paths
from actlab.errors import BadInput, UnknownName
from actlab.figures.primitives import crossed, line, lines, points
from actlab.figures.style import NO_RECORD, styled
from actlab.records import repro, settings
from actlab.records import tables as tidy
from actlab.records.labels import METRICS, Metric, of_trials, words
from actlab.records.repro import ArmResults, Grid
from actlab.records.store import Record
from actlab.records.wording import above_zero, ends, signed, small, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import coefficient_of_variation, mean_interval
from actlab.statistics.significance import ALPHA, REFERENCE, Cells, Test, holm, welch

FORMATS = ("png", "svg", "pdf")
FILES = {"val_accuracy": "accuracy", "relative_pd": "reproducibility"}
"""What a metric's figure is called, where not by its name: as the reference study called it."""
FLOORS = ("repeat", "nudge")
"""The perturbations of a noise floor."""
MISSING = "not run"


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
    def metrics(self) -> dict[str, Metric]:
        """What the study measured, and how to read it."""
        return self.grid.metrics

    @cached_property
    def tests(self) -> pd.DataFrame:
        """Every arm minus the reference of its group."""
        return _differences(self.grid.couples(self.reference).values(), self.metrics, f" - {self.reference}")

    def tested(self, metric: str) -> Cells:
        """(group, level) -> difference from the reference in a metric, and its p-value after Holm."""
        own = (test for test in self.tests.itertuples() if test.metric == metric)
        return {
            (t.group, t.difference.removesuffix(f" - {self.reference}")): (
                Estimate(t.value, t.low, t.high, t.n, t.method),
                t.p_holm,
            )
            for t in own
        }


def load(study: str, models: Sequence[str] = (), activations: Sequence[str] = (), reference: str = "") -> Report:
    """A recorded study, whole or only some models and activations of it.

    Raises:
        UnknownName: a study without trials; a model, an activation of the chosen models, or a reference, without a
            record.
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
    if reference and reference not in grid.activations:
        raise UnknownName("reference", reference, grid.activations, f"results/{study}")
    preferred = next(name for name in (reference, "relu", "gelu", *grid.activations) if name in grid.activations)
    return Report(study, records, *tidy.of_records(records), grid, preferred)


def _differences(
    couples: Iterable[tuple[ArmResults, ArmResults]], metrics: Iterable[str], ending: str = ""
) -> pd.DataFrame:
    """A row a metric of an arm and another one, its difference named by the arm's level: p, and p_holm, adjusted over
    all groups within a metric."""
    rows = [
        {"group": arm.model, "difference": f"{arm.level}{ending}", "metric": metric, **vars(found), "p": p}
        for arm, other in couples
        for metric in metrics
        for found, p in [_tested(arm, other, metric)]
    ]
    found = pd.DataFrame(rows)
    if len(found):
        found["p_holm"] = found.groupby("metric")["p"].transform(lambda p: holm(p.to_numpy(float)))
    return found


def _tested(arm: ArmResults, other: ArmResults, metric: str) -> Test:
    """Difference from another arm and p-value: paired over shared seeds; without two of them, by Welch's test of the
    trials; NaN where neither can be made."""
    found = arm.minus(other, metric)
    if found.n > 1 or not of_trials(metric):
        return found, float("nan") if np.isnan(found.low) else found.p_value()
    return welch(arm.values(metric), other.values(metric))


def write(report: Report, out: Path, formats: Sequence[str] = ("png",)) -> Iterator[Path]:
    """Write the report into ``out`` and yield each file; ``formats`` of the figures, none for no figures."""
    for name in formats:
        if name not in FORMATS:
            raise UnknownName("format", name, FORMATS)
    yield files.write_text(out / "summary.txt", in_words(report))
    estimates = [
        {"group": arm.model, "level": arm.level, "metric": metric, **vars(arm.shown(metric))}
        for arm in report.grid.arms.values()
        for metric in report.metrics
    ]
    csv = {
        "trials": report.trials,
        "pairs": report.pairs,
        "estimates": pd.DataFrame(estimates),
        "differences": report.tests,
    }
    for name, rows in csv.items():
        (out / f"{name}.csv").unlink(missing_ok=True)  # of an earlier report
        if len(rows):
            yield files.write_text(out / f"{name}.csv", rows.to_csv(index=False))
    for name, metric in report.metrics.items():
        found = table(report.grid, metric, report.tested(name), report.reference)
        yield files.write_text(out / f"table_{name}.tex", found.to_latex(escape=True))
    for name, drawn in drawings(report) if formats else ():
        for ending in formats:
            path = out / f"{name}.{ending}"
            with styled():
                drawn.savefig(path, metadata={"Date": None} if ending == "svg" else None, dpi=rcParams["savefig.dpi"])
            yield path


def in_words(report: Report) -> str:
    """The summary: settings, then every metric as a table of all arms, with the spread over each group's arms."""
    said = [
        f"study {report.study}: 95% intervals over trials, not adjusted; n counts trials; *: significant at 5%, "
        "Holm-adjusted over all groups",
        *_settings(report),
    ]
    for name, metric in report.metrics.items():
        said += ["", metric.label, table(report.grid, metric, report.tested(name), report.reference).to_string()]
        groups = [] if of_trials(name) else report.grid.models
        said += [f"{group}: {told}" for group in groups if (told := _spread(report.grid.of_model(group), name))]
    return "\n".join([*said, ""])


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
    trials = _each_once(report.trials)
    for level, about in settings.own_levels(report.records).items():
        yield f"own activation: {level} {about}"
    ended, spent = trials["status"].value_counts(), trials.get("seconds", pd.Series(dtype=float)).dropna()
    yield f"trials: {', '.join(f'{count} {status}' for status, count in ended.items())}"
    if failed := sorted((paths.results() / report.study / "failed").glob("*.json")):
        yield f"failed, not reported (tracebacks in {failed[0].parent}): {', '.join(path.stem for path in failed)}"
    if len(spent):
        yield f"training and evaluation: {spent.sum():,.0f} s in all, {spent.mean():.3g} s a trial"


def _each_once(trials: pd.DataFrame) -> pd.DataFrame:
    """The trials without those that a noise floor, or a perturbed arm, shares with the arm of its settings."""
    first = trials.sort_values("kind", key=lambda kind: ~kind.isin(settings.MAIN), kind="stable")
    cells = {name for kind in trials["kind"].unique() for name in settings.CELLS[kind]}
    return first.drop_duplicates([*cells, "setting", "trial"])


def frame(rows: Mapping[Any, Mapping[str, Any]], names: tuple[str, ...] = ()) -> pd.DataFrame:
    """A table of text with a row a key (of several ``names``); "no record yet" without rows."""
    if not rows:
        return pd.DataFrame({"": [NO_RECORD]}, index=[""])
    made = pd.DataFrame.from_dict(dict(enumerate(rows.values())), orient="index").fillna("")
    made.index = pd.Index(list(rows), name=names or None)
    return made


def table(grid: Grid, metric: Metric, tests: Cells, reference: str = REFERENCE) -> pd.DataFrame:
    """A metric: a row an arm, with its 95% interval, n and the trials that did not end well, the noise floor where one
    was run, and the difference from the reference where it was tested; a star marks one that is significant in its
    family (Holm)."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for cell in product(grid.models, grid.activations):
        if not (arm := grid.arms.get(cell)):
            rows[cell] = {metric.short: MISSING}
            continue
        key = arm.model, arm.level
        rows[key] = {metric.short: with_interval(arm.shown(metric.name), metric.digits)}
        n = ", ".join([f"{arm.estimate(metric.name).n}", *arm.not_done])
        rows[key] |= {"n": n, "parameters": f"{arm.n_parameters:,}"}
        if arm.floor and not of_trials(metric.name):
            rows[key] |= {words(variant): small(arm.floor_of(metric.name, variant)) for variant in FLOORS}
        if key in tests:
            e, p = tests[key]
            rows[key][f"minus {reference}"] = f"{signed(e, 4)}{' *' * (p < ALPHA)}"
    return frame(rows, ("group", "arm"))


def figure_floors(grid: Grid) -> Figure:
    """Another seed, and the same seed with one weight moved by one ULP, on a logarithmic axis; an exact 0 has no place
    there."""
    found = {}
    for arm in grid.arms.values():
        if arm.floor:
            place = f"{arm.model}, {arm.activation}"
            found["", place, "another seed"] = arm.shown("total_variation")
            moved = arm.floor_of("total_variation", "nudge")
            if moved > 0:
                alone = Estimate(moved, math.nan, math.nan, 1, "one pair")
                found["", place, words("nudge")] = alone
    return points(found, METRICS["total_variation"].label, log=True)


def _spread(arms: Sequence[ArmResults], metric: str) -> str:
    """Mean over the arms, CV% with its interval, lowest and highest; nothing where all have one value."""
    values = {arm.level: value for arm in arms if not np.isnan(value := arm.estimate(metric).value)}
    if len(set(values.values())) < 2:
        return ""
    found = above_zero(repro.combined(arms, metric, coefficient_of_variation))
    low, high = ends(values)
    return f"mean {np.mean([*values.values()]):.4f}, CV% {with_interval(found, 2)}, lowest {low}, highest {high}"


def drawings(report: Report) -> Iterator[tuple[str, Figure]]:
    """File name without its ending and figure: each metric and its differences from the reference over all arms, loss
    against accuracy, training and noise floors where they are recorded."""
    every = {(arm.model, arm.level): arm for arm in report.grid.arms.values()}
    own = settings.own_levels(report.records)
    for metric in report.metrics.values():
        name = FILES.get(metric.name, metric.name)
        yield name, points({("", *cell): arm.shown(metric.name) for cell, arm in every.items()}, metric.label, own=own)
        if tests := report.tested(metric.name):
            label = f"{metric.label}: minus {report.reference} (filled: significant, Holm)"
            found = {(model, a, a): estimate for (model, a), (estimate, _) in tests.items()}
            hollow = [(model, a, a) for (model, a), (_, p) in tests.items() if not p < ALPHA]
            yield f"differences_{name}", points(found, label, hollow=hollow, zero=True, height=1.6, own=own)
    x, y = "val_accuracy", "total_variation"
    if {x, y} <= {*report.metrics}:
        both = {cell: crossed(arm.estimate(x), arm.estimate(y)) for cell, arm in every.items()}
        figure = lines(both, report.metrics[x].label, report.metrics[y].label, kind="alone", share=False, own=own)
        yield "accuracy_vs_reproducibility", figure
    curves = {
        cell: line({step: mean_interval(values) for step, values in arm.curve("val_loss").items()})
        for cell, arm in every.items()
        if arm.curve("val_loss").size
    }
    if curves:
        loss = METRICS["val_loss"].of_kind(report.grid.kind).label
        yield "training_curves", lines(curves, "iteration", loss, own=own)
    if any(arm.floor for arm in every.values()):
        yield "noise_floor", figure_floors(report.grid)


def compare(first: str, second: str) -> tuple[list[str], pd.DataFrame]:
    """(the settings in which two studies differ, one a line; the second minus the first, of every arm that both have).

    Raises:
        BadInput: they share no arm.
    """
    one, two = load(first), load(second)
    names = list(_levels(one.records) | _levels(two.records))
    before, after = (_levels(study.records, names) for study in (one, two))
    differ = [f"{n}: {' | '.join(before[n])} -> {' | '.join(after[n])}" for n in names if before[n] != after[n]]
    there, here = one.grid.arms, two.grid.arms
    if not (couples := [(arm, there[cell]) for cell, arm in here.items() if cell in there]):
        told = (", ".join(sorted(map(" ".join, arms))) for arms in (there, here))
        raise BadInput(f"the studies share no arm: one has {next(told)}; the other {next(told)}")
    return differ, _differences(couples, [metric for metric in one.metrics if metric in two.metrics])
