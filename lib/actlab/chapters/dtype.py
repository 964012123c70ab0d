"""bfloat16 beside float32: the same arms and seeds trained in both, and whether they are equivalent by the plan of
params/dtype.yaml."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from actlab.figures.style import NO_RECORD
from actlab.records import repro, store
from actlab.records.preregistration import plan_of
from actlab.records.repro import Grid
from actlab.records.wording import signed
from actlab.statistics.equal_loss import Decision, decide
from actlab.statistics.estimate import Estimate

STUDY, TWIN = "dtype", "repro-lite"
"""The study in bfloat16, and that of the same arms in float32."""
NOT_YET = f"{NO_RECORD}: `actlab run params/dtype.yaml` makes them on a processor with bfloat16 arithmetic"


@dataclass(frozen=True)
class Equivalence:
    """One arm's outcome in bfloat16 minus float32, paired by seed, with the tests of its family."""

    arm: str
    outcome: str
    margin: float
    found: Decision

    @property
    def difference(self) -> Estimate:
        """bfloat16 minus float32."""
        return self.found.difference


def read() -> list[Equivalence]:
    """The records of both studies, compared by the committed plan."""
    half, whole = (repro.read(store.load_study(study)) for study in (STUDY, TWIN))
    return compare(half, whole, plan_of(STUDY))


def compare(half: Grid, whole: Grid, plan: Mapping[str, Any]) -> list[Equivalence]:
    """Every outcome of the plan in every arm that both studies have; each outcome is a family of its own."""
    found: list[Equivalence] = []
    cells = [cell for cell in half.arms if cell in whole.arms]
    for outcome in plan["outcomes"]:
        differences = [half.arms[cell].minus(whole.arms[cell], outcome["metric"]) for cell in cells]
        margin = float(outcome["margin"])
        tested = zip(cells, decide(differences, margin), strict=True)
        found += [Equivalence(f"{m}, {a}", outcome["name"], margin, decision) for (m, a), decision in tested]
    return found


def table(found: Sequence[Equivalence]) -> pd.DataFrame:
    """A row an arm and outcome."""
    rows: dict[str, dict[str, object]] = {
        f"{e.arm}: {e.outcome}": {
            "bfloat16 minus float32": signed(e.difference, 5),
            "margin": e.margin,
            "p of the margin or more (Holm)": e.found.equivalence_adjusted,
        }
        for e in found
    }
    return pd.DataFrame.from_dict(rows or {NOT_YET: {"bfloat16 minus float32": ""}}, orient="index")


def sentence(found: Sequence[Equivalence], alpha: float = 0.05) -> str:
    """The plan's verdict: supported, contradicted or undecided, with the largest difference of each outcome."""
    if not found:
        return NOT_YET
    if any(e.found.adjusted < alpha and min(abs(e.difference.low), abs(e.difference.high)) > e.margin for e in found):
        word = "contradicted"
    else:
        word = "supported" if all(e.found.equivalence_adjusted < alpha for e in found) else "undecided"
    largest = {
        e.outcome: max((x for x in found if x.outcome == e.outcome), key=lambda x: abs(x.difference.value))
        for e in found
    }
    told = "; ".join(
        f"{name} by at most {abs(e.difference.value):.5f} ({e.arm}; margin {e.margin:g})" for name, e in largest.items()
    )
    return (
        f"that training in bfloat16 is the same experiment as in float32 is {word}: mean paired differences move {told}"
    )
