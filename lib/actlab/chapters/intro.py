"""What the paper's abstract quotes of several studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from actlab.chapters import answer as chapter
from actlab.chapters import processors
from actlab.records import repro, sources, store
from actlab.records.answer import METRIC, Answer
from actlab.records.repro import Grid
from actlab.statistics.equal_loss import Curves

TWINS = ("answer", "answer-fresh")
"""Studies at tuned rates with runs on two kinds of processor."""
PERTURBED = "extreme"
"""The study whose every arm was also run with one weight moved by one unit in the last place (1 ULP)."""
SMALL, TUNED, LARGER = "repro-lite", "rounding-tuned", "repro-partial"
"""The studies that did so in six architectures; the second at tuned rates, the others at one low rate."""


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
        f"{processors.reach(twins := processors.read(TWINS))} (exploratory, {len(twins)} runs)",
        [
            processors.growing(grid)
            for grid in (repro.read_study(SMALL), sources.read(store.load_study(TUNED)), repro.read_study(LARGER))
        ],
    )


def floors(grid: Grid) -> dict[str, tuple[float, float]]:
    """activation -> its 1-ULP floor and its total variation between seeds, the largest floor first."""
    floors = sorted(grid.floors().items(), key=lambda item: -item[1])
    return {cell[1]: (floor, grid.arms[cell].estimate(METRIC).value) for cell, floor in floors}
