"""Tests of claims whose numbers come of reading two models on different inputs: does the reading give them for a model and itself as well?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from actlab.claims import Finding, Kind
from actlab.claims.evidence import Evidence
from actlab.claims.recorded import Recorded
from actlab.claims.verdicts import decided, explained
from actlab.statistics.summaries import rank_correlation

UNPAIRED = "pairing: unpaired"
AUTOPSY = "studies/autopsy"
MIXED = "two metrics in one table"
LEAK = "padding: both"
"""An arm that sees the future is no point of a trade-off; the published correlation leaves it out, too."""
SAME = 0.1
"""Two means are alike if they differ by less than 10%."""
STRONG = 0.7
"""A rank correlation that makes a trade-off."""
FEWEST = 6
"""Points for it, of two architectures at least."""


def alike(first: float, second: float) -> bool:
    """Within 10% of the second."""
    return abs(first - second) <= SAME * second


@dataclass(frozen=True)
class ReadUnpaired:
    """A published difference that correct comparisons do not give: an artefact if the published reading does, of a model with itself too."""

    correct: Recorded
    model: str
    activation: str
    published: float
    page: str = AUTOPSY
    kind: Kind = "outcome"

    @property
    def rule(self) -> str:
        """The correct test's, and what makes an artefact."""
        return f"{self.correct.rule}; artefact if the published reading gives it within 10%, between two models and of a model with itself"

    def __call__(self, evidence: Evidence) -> Finding:
        """The correct verdict, explained by the reading nearest to the published value."""
        correct, reading = self.correct(evidence), evidence.readings.get((self.model, self.activation))
        if reading is None:
            return correct
        step = min(reading.iterations, key=lambda i: abs(reading.between(iteration=i).value - self.published))
        two, one = reading.between(iteration=step).value, reading.itself(iteration=step).value
        said = f"{two:.3f} between two models and {one:.3f} of a model with itself, after {step} iterations"
        return explained(correct, decided(alike(two, self.published) and alike(one, two), said, ""), UNPAIRED)


@dataclass(frozen=True)
class TradeOff:
    """More accurate models are less reproducible: an artefact if each model shows it against itself, where there is nothing to reproduce."""

    correct: Recorded
    page: str = AUTOPSY
    kind: Kind = "outcome"

    @property
    def rule(self) -> str:
        """The correct test's, and what makes an artefact."""
        return f"{self.correct.rule}; artefact if the published reading gives a rank correlation above {STRONG} for models against themselves as well"

    def __call__(self, evidence: Evidence) -> Finding:
        """Over every recorded reading: models at several iterations."""
        correct = self.correct(evidence)
        points = [(r, step) for r in evidence.readings.values() if LEAK not in r.defects for step in r.iterations]
        if len(points) < FEWEST or len({r.arm.model for r, _ in points}) < 2:
            return correct
        accuracy = [r.value("val_accuracy", step).value for r, step in points]
        two = _rank(accuracy, [r.between(iteration=step).value for r, step in points])
        one = _rank(accuracy, [r.itself(iteration=step).value for r, step in points])
        if one <= STRONG:
            return correct
        said = f"rank correlation of accuracy with the published reading ({len(points)} points): {two:.2f}, of a model with itself {one:.2f}"
        without = decided(False, f"the relation needs no second model; correctly read: {correct.ours}", correct.basis)
        return explained(without, decided(two > STRONG, said, ""), UNPAIRED)


def _rank(first: Sequence[float], second: Sequence[float]) -> float:
    return float(rank_correlation(np.array([[first], [second]]))[0])


@dataclass(frozen=True)
class MixedMetrics:
    """SwiGLU's advantage in the published table: an artefact if it comes of one metric for swiglu and another for relu, and not of either alone."""

    correct: Recorded
    model: str
    first: str
    second: str
    least: float = 0.25
    page: str = AUTOPSY
    kind: Kind = "outcome"

    @property
    def rule(self) -> str:
        """The correct test's, and what makes an artefact."""
        least = f"{100 * self.least:.0f}%"
        return (
            f"{self.correct.rule}; artefact if, read the published way, {self.first}'s total variation lies at least {least} below {self.second}'s "
            "relative PD, while both arms' values of one metric are within 10%"
        )

    def __call__(self, evidence: Evidence) -> Finding:
        """From the two arms read after the same number of iterations."""
        correct, (one, two) = self.correct(evidence), (evidence.readings.get((self.model, a)) for a in (self.first, self.second))
        if one is None or two is None:
            return correct
        coded, other, element = one.between().value, two.between().value, two.between("relative_pd").value
        gap = 1 - coded / element
        same = alike(coded, other) and alike(one.between("relative_pd").value, element)
        said = (
            f"{self.first}'s total variation {coded:.3f} is {100 * gap:.0f}% below {self.second}'s relative PD {element:.3f}; "
            f"total variation for both: {coded:.3f} and {other:.3f}"
        )
        return explained(correct, decided(gap >= self.least and same, said, ""), MIXED)
