"""The figures of a report: bars of every metric, its differences, losses along training for each group, accuracy
against reproducibility, noise floors, and four panels that sum up. Of a large study its first groups and arms."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import count

import pandas as pd
from matplotlib.figure import Figure

from actlab.figures import plots
from actlab.figures.primitives import Line, lines
from actlab.records.labels import METRICS, words
from actlab.records.tables import load_curves
from actlab.report.study import ARM, METRIC, Report, main
from actlab.statistics.contrasts import means
from actlab.statistics.significance import ALPHA

NAMES = {"val_accuracy": "accuracy", "relative_pd": "reproducibility"}
"""What a metric's figure is called, where not by its name: as the reference study called it."""
GROUPS, OF_MORE, ARMS = 8, 6, 12
"""Figures show all groups where there are eight at most, as an ablation has, and six where there are more; and twelve
arms of each: what a page can show, and what of a study of 750 arms is drawn within seconds."""
MOST_BYTES = 120
"""Of a group in a file's name, which has 255 at most with what else stands in it."""


def left_out(report: Report) -> str:
    """What the figures do not show, in a sentence; nothing where they show all."""
    groups, arms = map(len, report.levels)
    if groups <= GROUPS and arms <= ARMS:
        return ""
    return (
        f"the figures show the first {_drawn(groups)} of {groups} groups and the first "
        f"{min(ARMS, arms)} of {arms} arms; --group and --activation choose others"
    )


def _drawn(groups: int) -> int:
    return groups if groups <= GROUPS else OF_MORE


def of(report: Report) -> Iterator[tuple[str, Figure]]:
    """File name without its ending, and figure."""
    groups, arms = report.levels
    report = report.part([(group, arm) for group in groups[: _drawn(len(groups))] for arm in arms[:ARMS]])
    for metric in report.metrics.values():
        name, found = NAMES.get(metric.name, metric.name), report.of(metric.name, report.estimates)
        yield name, plots.bars(found.reindex(report.cells).reset_index(), metric.label, *ARM)
        tests = report.of(metric.name, report.differences).reset_index()
        if len(tests):
            tests["significant"] = tests["p_holm"] < ALPHA
            label = f"{metric.label}: minus {report.reference} (filled: significant, Holm)"
            figure = plots.forest(
                tests, label, panel="group", row="arm", filled="significant", zero=True, height=1.6, columns=2
            )
            yield f"differences_{name}", figure
    if {"val_accuracy", METRIC} <= {*report.metrics}:
        yield "accuracy_vs_reproducibility", against(report, "val_accuracy", METRIC)
    yield from training(report)
    if len(main(report.pairs)):
        yield "overview", overview(report, next(iter(report.metrics)))
    if (report.floors[METRIC] > 0).any():
        yield "noise_floor", floors(report)


def against(report: Report, x: str, y: str) -> Figure:
    """A metric against another, a mark an arm, each with its interval."""
    of_x, of_y = (report.of(name, report.estimates)[["estimate", "low", "high"]] for name in (x, y))
    both = of_y.add_suffix("_y").join(of_x, how="inner")
    marks = {}
    for cell, row in zip(both.index, both.itertuples(index=False), strict=True):
        marks[cell] = Line([row.estimate], [row.estimate_y], [row.low_y], [row.high_y], [row.low], [row.high])
    return lines(marks, report.metrics[x].label, report.metrics[y].label, kind="alone", share=False)


def training(report: Report) -> Iterator[tuple[str, Figure]]:
    """For each group its training and validation losses along training, a line an arm."""
    runs = report.runs[["record", "trial", *ARM]]
    curves = load_curves(report.study, "all").merge(runs).replace(math.inf, math.nan)
    curves = curves.rename(columns={"train_loss": "training", "val_loss": "validation"})
    losses = curves.melt([*ARM, "seed", "iteration"], ["training", "validation"], "of", "loss")
    label = METRICS["val_loss"].of_kind(report.kind).label.removeprefix("validation ")
    drawn = set[str]()
    for group, own in losses.groupby("group", sort=False):
        course = means(own, "loss", ["of", "arm", "iteration"])
        name = file_name(str(group), drawn)
        drawn.add(name.lower())
        yield f"training_{name}", plots.curves(course, "iteration", "estimate", ("iteration", label), "of", "arm")


def file_name(group: str, taken: Collection[str]) -> str:
    """A group as part of a file's name, of at most ``MOST_BYTES``, with a number where another group's is the same."""
    signs = "".join(sign if sign.isalnum() or sign in ".=-" else "_" for sign in group)
    name = signs.encode()[:MOST_BYTES].decode(errors="ignore")
    names = (f"{name}-{number}" for number in count(2))
    return name if name.lower() not in taken else next(each for each in names if each.lower() not in taken)


def overview(report: Report, metric: str) -> Figure:
    """Of every group and arm: means, all pairs, means again as a heat map, and the spread over arms, ranked."""
    pairs = {str(group): own[metric] for group, own in main(report.pairs).groupby("group")}
    return plots.overview(report.grid(metric), pairs, report.metrics[metric].short)


def floors(report: Report) -> Figure:
    """Another seed, and the same seed with one weight moved by one ULP, on a logarithmic axis; an exact 0 has no place
    there."""
    moved = report.floors.query(f"variant == 'nudge' and {METRIC} > 0")
    seeds = report.of(METRIC, report.estimates).reset_index().merge(report.floors[ARM].drop_duplicates())
    rows = {"another seed": seeds, words("nudge"): moved.assign(estimate=moved[METRIC])}
    both = pd.concat(rows, names=["what"]).reset_index("what")
    both["arm"] = both["group"] + ", " + both["arm"]
    return plots.forest(both, METRICS[METRIC].label, "estimate", panel="", row="arm", series="what", log=True)
