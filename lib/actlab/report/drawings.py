"""The figures of a report: accuracy and disagreement (or loss) as bars, accuracy against disagreement, losses along
training, and four panels that sum up."""

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


def of(report: Report) -> Iterator[tuple[str, Figure]]:
    """Yield each figure with the name of its file, without an ending."""
    pairs = main(report.pairs)
    second = {"relative_pd": "reproducibility"} if len(pairs) else {"val_loss": "val_loss"}
    for metric, name in ({"val_accuracy": "accuracy"} | second).items():
        if metric in report.metrics:
            table = report.of(metric, report.estimates).reset_index()
            yield name, plots.bars(table, report.metrics[metric].label, *ARM)
    if {"val_accuracy", METRIC} <= {*report.metrics}:
        yield "accuracy_vs_reproducibility", against(report, "val_accuracy", METRIC)
    losses = training(report)
    if len(losses):
        label = METRICS["val_loss"].of_kind(report.runs["kind"].iloc[0]).label.removeprefix("validation ")
        yield "training", plots.curves(losses, "iteration", "loss", ("iteration", label), "panel", "arm", columns=2)
    if len(pairs):
        metric = next(iter(report.metrics))
        values = {group: rows[metric] for group, rows in pairs.groupby("group")}
        yield "overview", plots.overview(report.grid(metric), values, report.metrics[metric].short)


def against(report: Report, x: str, y: str) -> Figure:
    """Draw a metric against another on one pair of axes: a mark an arm, with both intervals, and the name of its
    group."""
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
    """Return the mean training and validation losses along training: a row an arm, evaluation and ``panel``."""
    curves = curves_of(report.arms).merge(report.runs[["record", "trial", *ARM]])
    curves = curves.rename(columns={"train_loss": "training", "val_loss": "validation"}).replace(math.inf, math.nan)
    losses = curves.set_index([*ARM, "iteration"])[["training", "validation"]].rename_axis(columns="split").stack()
    table = losses.dropna().groupby(losses.index.names, sort=False).mean().reset_index(name="loss")
    return table.assign(panel=table["group"] + ", " + table["split"])
