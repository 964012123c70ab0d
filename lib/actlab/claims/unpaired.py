"""Tests of claims whose numbers come of reading two models on different inputs: does the reading give them for a model and itself as well?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from actlab.claims import Finding
from actlab.claims.evidence import Evidence, Reading
from actlab.claims.recorded import Recorded
from actlab.claims.verdicts import decided, explained
from actlab.statistics.summaries import rank_correlation

UNPAIRED = "pairing: unpaired"
MIXED = "two metrics in one table"
SAME = 0.1
"""Two means are alike if they differ by less than 10%."""
STRONG = 0.7
"""A rank correlation that makes a trade-off."""
FEWEST = 6
"""Points for it."""


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
    metric: str = "coded_pd"

    @property
    def rule(self) -> str:
        """The correct test's, and what makes an artefact."""
        return f"{self.correct.rule}; artefact if the published reading gives it within 10%, between two models and of a model with itself"

    @property
    def page(self) -> str:
        """Of the evidence."""
        return self.correct.page

    def __call__(self, evidence: Evidence) -> Finding:
        """The correct verdict, explained by the reading nearest to the published value."""
        found = [r for r in evidence.readings if (r.model, r.activation) == (self.model, self.activation)]
        correct = self.correct(evidence)
        if not found:
            return correct
        nearest = min(found, key=lambda r: abs(r.pairs[self.metric] - self.published))
        two, one = nearest.pairs[self.metric], nearest.itself[self.metric]
        said = f"{two:.3f} between two models and {one:.3f} of a model with itself, after {nearest.iteration} iterations"
        return explained(correct, decided(alike(two, self.published) and alike(one, two), said, ""), UNPAIRED)


@dataclass(frozen=True)
class TradeOff:
    """More accurate models are less reproducible: an artefact if each model shows it against itself, where there is nothing to reproduce."""

    correct: Recorded

    @property
    def rule(self) -> str:
        """The correct test's, and what makes an artefact."""
        return f"{self.correct.rule}; artefact if the published reading gives a rank correlation above {STRONG} for models against themselves as well"

    @property
    def page(self) -> str:
        """Of the evidence."""
        return self.correct.page

    def __call__(self, evidence: Evidence) -> Finding:
        """Over every recorded reading: models at several iterations."""
        correct = self.correct(evidence)
        if len(evidence.readings) < FEWEST:
            return correct
        two, one = (_with_accuracy(evidence.readings, kind) for kind in ("pairs", "itself"))
        said = (
            f"rank correlation of accuracy with the published reading ({len(evidence.readings)} points): {two:.2f}, of a model with itself {one:.2f}"
        )
        without = decided(False if one > STRONG else None, f"the relation needs no second model; correctly read: {correct.ours}", correct.basis)
        return explained(without, decided(two > STRONG, said, ""), UNPAIRED) if one > STRONG else correct


def _with_accuracy(readings: Sequence[Reading], kind: str) -> float:
    points = np.array([[[r.accuracy for r in readings]], [[getattr(r, kind)["coded_pd"] for r in readings]]])
    return float(rank_correlation(points)[0])


@dataclass(frozen=True)
class MixedMetrics:
    """SwiGLU's advantage in the published table: an artefact if it comes of one metric for swiglu and another for relu, and not of either alone."""

    correct: Recorded
    model: str
    first: str
    second: str
    least: float = 0.25

    @property
    def rule(self) -> str:
        """The correct test's, and what makes an artefact."""
        least = f"{100 * self.least:.0f}%"
        return (
            f"{self.correct.rule}; artefact if, read the published way, {self.first}'s coded difference lies at least {least} below {self.second}'s "
            "element-wise one, while both arms' values of one metric are within 10%"
        )

    @property
    def page(self) -> str:
        """Of the evidence."""
        return self.correct.page

    def __call__(self, evidence: Evidence) -> Finding:
        """From the two arms read after the same number of iterations."""
        correct = self.correct(evidence)
        arms = {(r.activation, r.iteration): r.pairs for r in evidence.readings if r.model == self.model}
        steps = [step for name, step in arms if name == self.first and (self.second, step) in arms]
        if not steps:
            return correct
        one, two = arms[self.first, min(steps)], arms[self.second, min(steps)]
        gap = 1 - one["coded_pd"] / two["relative_pd"]
        same = all(alike(one[metric], two[metric]) for metric in ("coded_pd", "relative_pd"))
        said = (
            f"{self.first}'s coded {one['coded_pd']:.3f} is {100 * gap:.0f}% below {self.second}'s element-wise {two['relative_pd']:.3f}; "
            f"coded for both {one['coded_pd']:.3f} and {two['coded_pd']:.3f}"
        )
        return explained(correct, decided(gap >= self.least and same, said, ""), MIXED)
