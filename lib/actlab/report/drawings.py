"""The figures of a report: every metric and its differences, loss against accuracy, training, noise floors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from actlab.figures import plots
from actlab.figures.primitives import Line, lines
from actlab.records.labels import METRICS, words
from actlab.records.tables import load_curves
from actlab.report.study import ARM, Report
from actlab.statistics.contrasts import means
from actlab.statistics.significance import ALPHA

NAMES = {"val_accuracy": "accuracy", "relative_pd": "reproducibility"}
"""What a metric's figure is called, where not by its name: as the reference study called it."""


def of(report: Report) -> Iterator[tuple[str, Figure]]:
    """File name without its ending, and figure."""
    estimates = report.estimates
    for metric in report.metrics.values():
        name, every = NAMES.get(metric.name, metric.name), report.of(metric.name, estimates).reindex(report.arms.index)
        shown = every.reset_index()
        yield name, plots.forest(shown, metric.label, "estimate", panel="", row="group", series="arm")
        tests = report.of(metric.name, report.differences).reset_index()
        if len(tests):
            label = f"{metric.label}: minus {report.reference} (filled: significant, Holm)"
            look: dict[str, Any] = {"filled": "significant", "zero": True, "height": 1.6, "columns": 2}
            tests["significant"] = tests["p_holm"] < ALPHA
            yield f"differences_{name}", plots.forest(tests, label, panel="group", row="arm", **look)
    if {x := "val_accuracy", y := "total_variation"} <= {*report.metrics}:
        both = pd.concat({name: report.of(name, estimates) for name in (x, y)}, axis=1).reindex(report.arms.index)
        sides = [(x, "estimate"), *((y, side) for side in ("estimate", "low", "high")), (x, "low"), (x, "high")]
        marks = {cell: Line(*both.loc[[cell], sides].to_numpy(float).T) for cell in both.index}
        labels = (report.metrics[x].label, report.metrics[y].label)
        yield "accuracy_vs_reproducibility", lines(marks, *labels, kind="alone", share=False)
    if len(curves := load_curves(report.study, "all")):
        curves = curves.merge(report.runs[["record", *ARM]].drop_duplicates()).replace(math.inf, math.nan)
        course = means(curves, "val_loss", [*ARM, "iteration"])
        labels = ("iteration", METRICS["val_loss"].of_kind(report.kind).label)
        yield "training_curves", plots.curves(course, "iteration", "estimate", labels, *ARM)
    if (report.floors["total_variation"] > 0).any():
        yield "noise_floor", floors(report)


def floors(report: Report) -> Figure:
    """Another seed, and the same seed with one weight moved by one ULP, on a logarithmic axis; an exact 0 has no place
    there."""
    metric = "total_variation"
    moved = report.floors.query(f"variant == 'nudge' and {metric} > 0").assign(what=words("nudge"))
    seeds = report.of(metric, report.estimates).reindex([*map(tuple, report.floors[ARM].drop_duplicates().to_numpy())])
    both = pd.concat([seeds.reset_index().assign(what="another seed"), moved.assign(estimate=moved[metric])])
    both["arm"] = both["group"] + ", " + both["arm"]
    return plots.forest(both, METRICS[metric].label, "estimate", panel="", row="arm", series="what", log=True)
