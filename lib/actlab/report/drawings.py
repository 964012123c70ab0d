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
from actlab.records.labels import METRICS, of_trials, words
from actlab.records.tables import load_curves
from actlab.report.study import ARM, Report, main
from actlab.statistics.contrasts import means
from actlab.statistics.significance import ALPHA

NAMES = {"val_accuracy": "accuracy", "relative_pd": "reproducibility"}
"""What a metric's figure is called, where not by its name: as the reference study called it."""
GROUPS, ARMS = 6, 12
"""The most groups that figures show, and the most arms of each: what a page can show, drawn within seconds."""
MOST_BYTES = 120
"""Of a group in a file's name, which has 255 at most with what else stands in it."""


def left_out(report: Report) -> str:
    """What the figures do not show, in a sentence; nothing where they show all."""
    groups, arms = report.levels
    if len(groups) <= GROUPS and len(arms) <= ARMS:
        return ""
    return (
        f"the figures show the first {min(GROUPS, len(groups))} of {len(groups)} groups and the first "
        f"{min(ARMS, len(arms))} of {len(arms)} arms; --model and --activation choose others"
    )


def of(report: Report) -> Iterator[tuple[str, Figure]]:
    """File name without its ending, and figure."""
    groups, arms = report.levels
    report = report.part([(group, arm) for group in groups[:GROUPS] for arm in arms[:ARMS]])
    for metric in report.metrics.values():
        name, found = NAMES.get(metric.name, metric.name), report.of(metric.name, report.estimates)
        yield name, plots.bars(found.reindex(report.cells).reset_index(), metric.label, *ARM)
        tests = report.of(metric.name, report.differences).reset_index()
        if len(tests):
            label = f"{metric.label}: minus {report.reference} (filled: significant, Holm)"
            tests["significant"] = tests["p_holm"] < ALPHA
            yield (
                f"differences_{name}",
                plots.forest(
                    tests, label, panel="group", row="arm", filled="significant", zero=True, height=1.6, columns=2
                ),
            )
    if {"val_accuracy", "total_variation"} <= {*report.metrics}:
        yield "accuracy_vs_reproducibility", against(report, "val_accuracy", "total_variation")
    yield from training(report)
    apart = [name for name in report.metrics if not of_trials(name)]
    if apart:
        yield "overview", overview(report, apart[0])
    if (report.floors["total_variation"] > 0).any():
        yield "noise_floor", floors(report)


def against(report: Report, x: str, y: str) -> Figure:
    """A metric against another, a mark an arm, each with its interval."""
    of_x, of_y = (report.of(name, report.estimates) for name in (x, y))
    marks = {}
    for cell in of_y.index.intersection(of_x.index):
        sides = [table.loc[[cell], name] for table in (of_y, of_x) for name in ("low", "high")]
        marks[cell] = Line(of_x.loc[[cell], "estimate"], of_y.loc[[cell], "estimate"], *sides)
    return lines(marks, report.metrics[x].label, report.metrics[y].label, kind="alone", share=False)


def training(report: Report) -> Iterator[tuple[str, Figure]]:
    """For each group its training and validation losses along training, a line an arm."""
    curves = load_curves(report.study, "all").merge(report.runs[["record", "trial", *ARM]]).replace(math.inf, math.nan)
    label = METRICS["val_loss"].of_kind(report.kind).label.removeprefix("validation ")
    drawn = set[str]()
    for group, own in curves.groupby("group", sort=False):
        losses = {"training": "train_loss", "validation": "val_loss"}
        course = pd.concat(
            {what: means(own, name, ["arm", "iteration"]) for what, name in losses.items()}, names=["of"]
        )
        name = file_name(str(group), drawn)
        drawn.add(name.lower())
        labels = ("iteration", label)
        yield f"training_{name}", plots.curves(course.reset_index("of"), "iteration", "estimate", labels, "of", "arm")


def file_name(group: str, taken: Collection[str]) -> str:
    """A group as part of a file's name, of at most ``MOST_BYTES``, with a number where another group's is the same."""
    signs = "".join(sign if sign.isalnum() or sign in ".=-" else "_" for sign in group)
    name = signs.encode()[:MOST_BYTES].decode(errors="ignore")
    names = (f"{name}-{number}" for number in count(2))
    return name if name.lower() not in taken else next(each for each in names if each.lower() not in taken)


def overview(report: Report, metric: str) -> Figure:
    """Of every group and arm: means, all pairs, means again as a heat map, and the spread over arms, ranked."""
    estimates = report.of(metric, report.estimates)["estimate"]
    grid = estimates.reindex(report.cells).unstack("arm").reindex(index=report.levels[0], columns=report.levels[1])
    pairs = main(report.pairs)
    return plots.overview(
        grid, {str(group): own[metric] for group, own in pairs.groupby("group")}, report.metrics[metric].short
    )


def floors(report: Report) -> Figure:
    """Another seed, and the same seed with one weight moved by one ULP, on a logarithmic axis; an exact 0 has no place
    there."""
    metric = "total_variation"
    moved = report.floors.query(f"variant == 'nudge' and {metric} > 0").assign(what=words("nudge"))
    seeds = report.of(metric, report.estimates).reindex(
        list(map(tuple, report.floors[ARM].drop_duplicates().to_numpy()))
    )
    both = pd.concat([seeds.reset_index().assign(what="another seed"), moved.assign(estimate=moved[metric])])
    both["arm"] = both["group"] + ", " + both["arm"]
    return plots.forest(both, METRICS[metric].label, "estimate", panel="", row="arm", series="what", log=True)
