"""Figures and tables of arms by model and activation: differences from relu, training, noise floors, and every metric.
For the pages of reproducibility and of the report."""

from __future__ import annotations

import math
from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters.template import MISSING, frame
from actlab.figures import answer
from actlab.figures.primitives import points
from actlab.records import store
from actlab.records.families import tested
from actlab.records.labels import METRICS, Metric, of_trials, words
from actlab.records.preregistration import registrations
from actlab.records.repro import Grid
from actlab.records.wording import moment, signed, small, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import ALPHA, REFERENCE, Cells

TV = "total_variation"
STARRED = ("val_loss", TV)
"""Metrics that are compared with relu."""
FLOORS = ("repeat", "nudge")
"""The perturbations of a noise floor."""


def figure_differences(grid: Grid, metric: str = "total_variation", margin: float = 0.0) -> Figure:
    """Every activation minus relu, paired by seed: a panel a model; hollow where not significant in its family."""
    label = f"{METRICS[metric].label}, minus {REFERENCE} (filled: significant)"
    return answer.differences(cells(grid, metric), label, margin)


def figure_floors(grid: Grid) -> Figure:
    """Another seed, and the same seed with one weight moved by one ULP, on a logarithmic axis; an exact 0 has no place
    there."""
    found = {}
    for arm in grid.arms.values():
        if arm.floor:
            place = f"{arm.model}, {arm.activation}"
            found["", place, "another seed"] = arm.shown(TV)
            moved = arm.floor_of(TV, "nudge")
            if moved > 0:
                alone = Estimate(moved, math.nan, math.nan, 1, "one pair")
                found["", place, words("nudge")] = alone
    return points(found, METRICS[TV].label, log=True)


def cells(grid: Grid, metric: str) -> Cells:
    """(model, activation) -> difference from relu, with its p-value in the family that decides."""
    return {(test.arm.model, test.arm.activation): (test.difference, test.p) for test in tested(grid, metric)}


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


def registered(*studies: str) -> pd.DataFrame:
    """A row a version of a plan under which records were made: its commit and date, and when the first run began."""
    return frame(
        {
            f"{study}, version {r.version}": {
                "commit": r.commit[:10] or "not in this history",
                "committed": r.committed and moment(r.committed),
                "first run began": r.first_run and moment(r.first_run),
                "records": r.records,
            }
            for study in studies
            for r in registrations(store.load_study(study)).itertuples()
        }
    )


def provenance(grid: Grid) -> pd.DataFrame:
    """Where the records come from: commit, machine, versions, data and days; one row for each that differs."""
    rows = []
    for arm in grid.arms.values():
        origin, device = arm.record["provenance"], str(arm.recipe["device"])
        machine, data = origin["machine"], origin["data"]
        rows.append(
            {
                "commit": (origin["git_commit"] or "none")[:10] + (" (changed)" if origin["git_dirty"] else ""),
                "processor": machine["gpu" if device.startswith("cuda") else "processor"],
                "torch": machine["torch"],
                "data": f"{data['name']} {data['sha256'][:10]}",
                "positions compared": f"{data['prediction_positions']:,}",
                "day": origin["date"][:10],
            }
        )
    if not rows:
        return pd.DataFrame()
    found = pd.DataFrame(rows)
    days = found.groupby([name for name in found if name != "day"], sort=False, dropna=False)["day"]
    table = days.agg(records="size", days=lambda day: " to ".join(dict.fromkeys((min(day), max(day)))))
    return table.reset_index().set_index("commit")
