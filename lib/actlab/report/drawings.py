"""The figures of a report: accuracy and disagreement (or loss) as bars, accuracy against disagreement, losses along
training, and four panels that sum up. Of a large study its first groups and arms."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure

from actlab.figures import plots
from actlab.figures.primitives import Line, lines
from actlab.records.labels import METRICS
from actlab.records.tables import curves_of
from actlab.report.arms import ARM
from actlab.report.study import METRIC, Report, main

GROUPS, ARMS = 8, 12
"""The most groups, and arms of each, that a figure shows."""


def left_out(report: Report) -> str:
    """What the figures do not show, in a sentence; nothing where they show all."""
    groups, arms = map(len, report.levels)
    if groups <= GROUPS and arms <= ARMS:
        return ""
    first = f"the first {min(GROUPS, groups)} of {groups} groups and the first {min(ARMS, arms)} of {arms} arms"
    return f"the figures show {first}; --group and --activation choose others"


def of(report: Report) -> Iterator[tuple[str, Figure]]:
    """File name without its ending, and figure."""
    groups, arms = report.levels
    report = report.part([(group, arm) for group in groups[:GROUPS] for arm in arms[:ARMS]])
    pairs = main(report.pairs)
    second = {"relative_pd": "reproducibility"} if len(pairs) else {"val_loss": "val_loss"}
    for metric, name in ({"val_accuracy": "accuracy"} | second).items():
        if metric in report.metrics:
            table = report.of(metric, report.estimates).reset_index()
            yield name, plots.bars(table, report.metrics[metric].label, *ARM)
    if {"val_accuracy", METRIC} <= {*report.metrics}:
        yield "accuracy_vs_reproducibility", against(report, "val_accuracy", METRIC)
    curves = training(report)
    if len(curves):
        label = METRICS["val_loss"].of_kind(report.runs["kind"].iloc[0]).label.removeprefix("validation ")
        yield "training", plots.curves(curves, "iteration", "loss", ("iteration", label), "panel", "arm")
    if len(pairs):
        metric = next(iter(report.metrics))
        values = {group: rows[metric] for group, rows in pairs.groupby("group")}
        yield "overview", plots.overview(report.grid(metric), values, report.metrics[metric].short)


def against(report: Report, x: str, y: str) -> Figure:
    """A metric against another on one pair of axes: a mark an arm, with both intervals, and the name of its group."""
    of_x, of_y = (report.of(name, report.estimates).reset_index() for name in (x, y))
    both = of_x.merge(of_y, on=ARM, suffixes=("_x", "_y"))
    columns = ["estimate_x", "estimate_y", "low_y", "high_y", "low_x", "high_x"]
    marks = {("", arm): Line(*rows[columns].to_numpy().T) for arm, rows in both.groupby("arm", sort=False)}
    labels = (report.metrics[name].label for name in (x, y))
    figure = lines(marks, *labels, kind="alone", height=3.7)
    for group, place in both.groupby("group")[columns[:2]].max().iterrows():
        figure.axes[0].annotate(group, place, (4, 4), textcoords="offset points", fontsize=8)
    return figure


def training(report: Report) -> pd.DataFrame:
    """The mean training and validation losses along training: a row an arm, evaluation and ``panel``; of more than two
    groups the validation losses alone."""
    runs = report.runs[["record", "trial", *ARM]]
    curves = curves_of(report.arms).merge(runs).replace(math.inf, math.nan)
    curves = curves.rename(columns={"train_loss": "training", "val_loss": "validation"})
    splits = ["training", "validation"] if len(report.levels[0]) < 3 else ["validation"]
    losses = curves.melt([*ARM, "iteration"], splits, "split", "loss").dropna(subset="loss")
    losses["panel"] = losses["group"] + ", " + losses["split"]
    means = losses.groupby([*ARM, "panel", "iteration"], sort=False)["loss"].mean().reset_index()
    return means.sort_values("group", key=lambda groups: groups.map(report.levels[0].index), kind="stable")
