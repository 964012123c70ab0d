"""bfloat16 beside float32: the same arms and seeds trained in both, and whether they are equivalent by the plan of
params/dtype.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from actlab.chapters.template import frame
from actlab.figures.style import NO_RECORD
from actlab.records import repro, store
from actlab.records.preregistration import plan_of
from actlab.records.repro import Grid
from actlab.records.wording import signed
from actlab.statistics.equal_loss import decide

STUDY, TWIN = "dtype", "repro-lite"
"""The study in bfloat16, and that of the same arms in float32."""
NOT_YET = f"{NO_RECORD}: `actlab run params/dtype.yaml` makes them on a processor with bfloat16 arithmetic"
COLUMN, VERDICT = "bfloat16 minus float32", "verdict"


def read() -> pd.DataFrame:
    """The records of both studies, compared by the committed plan."""
    half, whole = (repro.read(store.load_study(study)) for study in (STUDY, TWIN))
    return table(half, whole, plan_of(STUDY))


def table(half: Grid, whole: Grid, plan: Mapping[str, Any]) -> pd.DataFrame:
    """A row an outcome of the plan and arm that both studies have, each outcome a family of its own; then the
    hypothesis, by the plan's rule."""
    rows: dict[str, dict[str, str]] = {}
    cells = [cell for cell in half.arms if cell in whole.arms]
    for outcome in plan["outcomes"] if cells else ():
        margin = float(outcome["margin"])
        found = decide([half.arms[cell].minus(whole.arms[cell], outcome["metric"]) for cell in cells], margin)
        for cell, one in zip(cells, found, strict=True):
            apart = min(abs(one.difference.low), abs(one.difference.high)) > margin
            rows[f"{', '.join(cell)}: {outcome['name']}"] = {
                COLUMN: signed(one.difference, 5),
                "margin": f"{margin:g}",
                VERDICT: "beyond the margin"
                if apart and one.adjusted < plan["alpha"]
                else "equivalent"
                if one.equivalence_adjusted < plan["alpha"]
                else "undecided",
            }
    if not rows:
        return pd.DataFrame({COLUMN: {NOT_YET: ""}})
    verdicts = {row[VERDICT] for row in rows.values()}
    word = "supported" if verdicts == {"equivalent"} else "undecided"
    whole_plan = {VERDICT: "contradicted" if "beyond the margin" in verdicts else word}
    return frame({**rows, "the plan's hypothesis": whole_plan})
