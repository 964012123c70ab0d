"""The figures of a report: accuracy, disagreement and loss as bars, differences, accuracy against disagreement, losses
along training, noise floors, and four panels that sum up. Of a large study its first groups and arms."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd
from matplotlib.figure import Figure

from actlab.figures import plots
from actlab.records.labels import METRICS, words
from actlab.records.tables import load_curves
from actlab.report.arms import ARM
from actlab.report.study import METRIC, Report, main
from actlab.statistics.significance import ALPHA

NAMES = {"val_accuracy": "accuracy", "relative_pd": "reproducibility", "val_loss": "val_loss"}
"""Metric -> what its figures are called; the tables have every metric."""
GROUPS, ARMS = 8, 12
"""The most groups, and arms of each, that a figure shows."""
LONG_NAME = 14
"""Letters of an arm's name beyond which three panels beside each other have no room."""


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
    for name, called in NAMES.items():
        if name in report.metrics:
            label = report.metrics[name].label
            yield called, plots.bars(report.of(name, report.estimates).reset_index(), label, *ARM)
    main_metric = next(name for name in ("relative_pd", "val_loss", "") if name in ("", *report.metrics))
    tests = report.of(main_metric, report.differences).reset_index()
    if len(tests):
        tests["significant"] = tests["p_holm"] < ALPHA
        label = f"{report.metrics[main_metric].label}: minus {report.reference} (filled: significant, Holm)"
        columns = 2 if max(len(words(str(arm))) for arm in tests["arm"]) > LONG_NAME else 3
        drawn = plots.forest(tests, label, panel="group", row="arm", filled="significant", zero=True, columns=columns)
        yield "differences", drawn
    if {"val_accuracy", METRIC} <= {*report.metrics}:
        yield "accuracy_vs_reproducibility", against(report, "val_accuracy", METRIC)
    curves = training(report)
    if len(curves):
        label = METRICS["val_loss"].of_kind(str(report.runs["kind"].iloc[0])).label.removeprefix("validation ")
        yield "training", plots.curves(curves, "iteration", "loss", ("iteration", label), "panel", "arm")
    if len(main(report.pairs)):
        metric = next(iter(report.metrics))
        pairs = {str(group): rows[metric] for group, rows in main(report.pairs).groupby("group")}
        yield "overview", plots.overview(report.grid(metric), pairs, report.metrics[metric].short)
    if (report.floors[METRIC] > 0).any():
        yield "noise_floor", floors(report)


def against(report: Report, x: str, y: str) -> Figure:
    """A metric against another, a mark an arm, each with its interval."""
    names = {"estimate": "", "low": "_low", "high": "_high"}
    of_x, of_y = (
        report.of(name, report.estimates)[[*names]].rename(columns={key: at + end for key, end in names.items()})
        for name, at in ((x, "x"), (y, "y"))
    )
    both = of_x.join(of_y, how="inner").reset_index()
    return plots.scatter(both, report.metrics[x].label, report.metrics[y].label)


def training(report: Report) -> pd.DataFrame:
    """The mean training and validation losses along training: a row an arm, evaluation and ``panel``; of more than two
    groups the validation losses alone."""
    runs = report.runs[["record", "trial", *ARM]]
    curves = load_curves(report.study, "all").merge(runs).replace(math.inf, math.nan)
    curves = curves.rename(columns={"train_loss": "training", "val_loss": "validation"})
    splits = ["training", "validation"] if len(report.levels[0]) < 3 else ["validation"]
    losses = curves.melt([*ARM, "iteration"], splits, "split", "loss")
    losses["panel"] = losses["group"].astype(str) + ", " + losses["split"]
    means = losses.groupby([*ARM, "split", "panel", "iteration"], sort=False)["loss"].mean().reset_index()
    place = means["group"].map({group: i for i, group in enumerate(report.levels[0])})
    return means.assign(place=place).sort_values("place", kind="stable").dropna(subset="loss")


def floors(report: Report) -> Figure:
    """Another seed, and the same seed with one weight moved by one ULP, on a logarithmic axis, on which an exact 0 has
    no place: the label counts these."""
    moved = report.floors[report.floors["variant"] == "nudge"]
    exact = f"; {int((moved[METRIC] == 0).sum())} of {len(moved)} are exactly 0" if (moved[METRIC] == 0).any() else ""
    moved = moved[moved[METRIC] > 0]
    seeds = report.of(METRIC, report.estimates).reset_index().merge(report.floors[ARM].drop_duplicates())
    rows = {"another seed": seeds, words("nudge"): moved.assign(estimate=moved[METRIC])}
    both = pd.concat(rows, names=["what"]).reset_index("what")
    both["arm"] = both["group"] + ", " + both["arm"]
    return plots.forest(both, METRICS[METRIC].label + exact, "estimate", "", "arm", series="what", log=True)
