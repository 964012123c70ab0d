"""What the paper's abstract quotes of several studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from actlab.chapters import answer as chapter
from actlab.records import repro
from actlab.records.answer import METRIC, Answer
from actlab.records.replays import load_twins
from actlab.records.repro import Grid
from actlab.records.tables import load
from actlab.records.wording import listing, small, span
from actlab.statistics.equal_loss import Curves
from actlab.statistics.significance import REFERENCE

TWINS = ("answer", "answer-fresh")
"""Studies at tuned rates with runs on two kinds of processor."""
PERTURBED = "extreme"
"""The study whose every arm was also run with one weight moved by one unit in the last place (1 ULP)."""
SIX = {"repro-lite": "floor", "rounding-tuned": "perturbed", "repro-partial": "floor"}
"""The studies that did so in six architectures, and the kind of their records; the second at tuned rates, the others
at one low rate."""
FAR = 1e-4
"""Total variation that a perturbation of 1 ULP reaches where it grows."""


@dataclass(frozen=True)
class Front:
    """What the paper quotes and draws."""

    answer: Answer
    floors: dict[str, tuple[float, float]]
    """activation -> mean total variation after a perturbation of 1 ULP, and between seeds."""
    repeating: str
    """What another kind of processor changes at tuned rates."""
    growing: Sequence[str]
    """In which architectures such a perturbation grows: at a low rate, at tuned rates, and at partial scale."""

    @property
    def lead(self) -> tuple[str, dict[str, Curves], float]:
        """The architecture that the left panel shows, the first of the study, its curves, and their equal loss."""
        model, curves = next(iter(self.answer.arms().items()))
        return model, curves, self.answer.levels()[model].loss


def read() -> Front:
    """From all records."""
    return Front(
        chapter.read(),
        floors(repro.read_study(PERTURBED)),
        reach(load_twins(TWINS)),
        [growing(load(study, kind)[1]) for study, kind in SIX.items()],
    )


def reach(twins: pd.DataFrame) -> str:
    """How far losses on two processors lie apart under relu and otherwise, the architecture apart where they do
    most."""
    relu, others = (twins[twins["other"] == other] for other in (False, True))
    worst = others.loc[others["apart"].idxmax(), "model"]
    rest, there = (others.loc[(others["model"] == worst) == of, "apart"] for of in (False, True))
    return (
        f"{span(relu['apart'], '.2g')} nats under {REFERENCE}. Under the others it changes by at most "
        f"{small(max(rest, default=0.0))}, in {worst} by at most {small(max(there))} (exploratory, {len(twins)} runs)"
    )


def growing(pairs: pd.DataFrame) -> str:
    """In how many architectures a perturbation of 1 ULP grows under the reference, and in which under another
    activation."""
    moved = pairs[pairs["variant"] == "nudge"].assign(relu=lambda found: found["activation"] == REFERENCE)
    asked = moved.loc[moved["relu"], "model"].nunique()
    grown = moved[moved[METRIC] > FAR]
    others = listing(grown.loc[~grown["relu"], "model"].unique())
    return f"under {REFERENCE} in {grown['relu'].sum()} of {asked} architectures, under other activations in {others}"


def floors(grid: Grid) -> dict[str, tuple[float, float]]:
    """activation -> its 1-ULP floor and its total variation between seeds, the largest floor first."""
    floors = sorted(grid.floors().items(), key=lambda item: -item[1])
    return {cell[1]: (floor, grid.arms[cell].estimate(METRIC).value) for cell, floor in floors}
