"""The figures of a report: accuracy and disagreement (or loss) as bars, accuracy against disagreement, losses along
training, and four panels that sum up."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure

from actlab.figures import plots
from actlab.records.tables import curves_of
from actlab.report.factor import ARM
from actlab.report.study import METRIC, Report, main


def figures_of(report: Report) -> Iterator[tuple[str, Figure]]:
    """Yield each figure with the name of its file, without an ending."""
    pairs = main(report.pairs)
    bars = {"val_accuracy": "accuracy", "relative_pd": "reproducibility"}
    if pairs.empty:
        bars["val_loss"] = "val_loss"
    for metric, name in bars.items():
        if metric in report.metrics:
            table = report.of(metric, report.estimates).reset_index()
            yield name, plots.bars(table, report.metrics[metric].label, *ARM)
    if {"val_accuracy", METRIC} <= {*report.metrics}:
        yield "accuracy_vs_reproducibility", against(report)
    losses = training(report)
    if len(losses):
        label = report.metrics["val_loss"].label.removeprefix("validation ")
        yield "training", plots.curves(losses, "iteration", "loss", ("iteration", label), "panel", "arm", columns=2)
    if len(pairs):
        values = {group: rows[METRIC] for group, rows in pairs.groupby("group")}
        yield "overview", plots.overview(report.grid(METRIC), values, report.metrics[METRIC].short)


def against(report: Report) -> Figure:
    """Draw accuracy against disagreement on one pair of axes: a mark an arm, with both intervals, and the name of its
    group."""
    metrics = ["val_accuracy", METRIC]
    labels = [report.metrics[name].label for name in metrics]
    accuracy, disagreement = (report.of(name, report.estimates).reset_index() for name in metrics)
    both = accuracy.merge(disagreement, on=ARM, suffixes=("_x", "")).assign(panel="")
    figure = plots.curves(both, "estimate_x", "estimate", labels, "panel", "arm", kind="alone", height=3.7)
    for group, place in both.groupby("group")[["estimate_x", "estimate"]].max().iterrows():
        figure.axes[0].annotate(group, place, (4, 4), textcoords="offset points", fontsize=8)
    return figure


def training(report: Report) -> pd.DataFrame:
    """Return the mean training and validation losses along training: a row an arm, evaluation and ``panel``."""
    keys = [*ARM, "iteration"]
    curves = curves_of(report.arms).merge(report.runs[["record", "trial", *ARM]]).replace(math.inf, math.nan)
    losses = curves.groupby(keys, sort=False)[["train_loss", "val_loss"]].mean()
    losses.columns = pd.Index(["training", "validation"])
    table = losses.stack().dropna().rename_axis([*keys, "split"]).reset_index(name="loss")
    return table.assign(panel=table["group"] + ", " + table["split"])
