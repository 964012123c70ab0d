"""Differences from relu by model and activation, versions of plans, and where records come from."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from actlab.figures import answer
from actlab.records import store
from actlab.records.families import tested
from actlab.records.labels import METRICS
from actlab.records.preregistration import registrations
from actlab.records.repro import Grid
from actlab.records.wording import moment
from actlab.report import frame
from actlab.statistics.significance import REFERENCE, Cells


def figure_differences(grid: Grid, metric: str = "total_variation", margin: float = 0.0) -> Figure:
    """Every activation minus relu, paired by seed: a panel a model; hollow where not significant in its family."""
    label = f"{METRICS[metric].label}, minus {REFERENCE} (filled: significant)"
    return answer.differences(cells(grid, metric), label, margin)


def cells(grid: Grid, metric: str) -> Cells:
    """(model, activation) -> difference from relu, with its p-value in the family that decides."""
    return {(test.arm.model, test.arm.activation): (test.difference, test.p) for test in tested(grid, metric)}


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
