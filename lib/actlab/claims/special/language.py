"""Tests of claims whose numbers come of reading two models on different inputs: does the reading give them for a
model and itself as well?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from actlab.claims import Finding, Kind
from actlab.claims.evidence import Evidence, since
from actlab.claims.recorded import Recorded
from actlab.claims.verdicts import decided, explained, unexplained
from actlab.statistics.means import rank_correlation
from actlab.wording import measured

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
    """A published difference that correct comparisons do not give: an artefact if the published reading does, of a
    model with itself too.
    """

    correct: Recorded
    model: str
    activation: str
    published: float
    stated: int
    """Iterations, as the text has them."""
    metric: str = "coded_pd"
    """Of the published reading; ``relative_pd`` where the text's formula is of single characters."""
    page: str = AUTOPSY
    kind: Kind = "outcome"

    @property
    def rule(self) -> str:
        """The correct test's, and what makes an artefact."""
        return (
            f"{self.correct.rule}; artefact if the published reading gives it within 10% after {self.stated} "
            "iterations, between two models and of a model with itself; not yet tested while that reading has no "
            f"record after {self.stated} iterations"
        )

    def __call__(self, evidence: Evidence) -> Finding:
        """The correct verdict, explained by the reading after the stated iterations; without it, the nearest is
        told."""
        correct, reading = self.correct(evidence), evidence.readings.get((self.model, self.activation))
        if reading is None:
            return unexplained(correct, UNPAIRED)
        nearest = min(reading.iterations, key=lambda i: abs(reading.between(self.metric, i).value - self.published))
        step = self.stated if self.stated in reading.iterations else nearest
        two, one = reading.between(self.metric, step).value, reading.itself(self.metric, step).value
        said = f"{two:.3f} between two models and {one:.3f} of a model with itself, after {step} iterations"
        if step == self.stated:
            return explained(correct, decided(alike(two, self.published) and alike(one, two), said, ""), UNPAIRED)
        return unexplained(replace(correct, ours=f"{correct.ours} (published reading: {said})"), UNPAIRED)


@dataclass(frozen=True)
class OneSet:
    """The claim that predictions are compared on one set of inputs: contradicted by a published number that only
    different inputs give.
    """

    number: ReadUnpaired
    page: str = AUTOPSY
    kind: Kind = "outcome"

    @property
    def rule(self) -> str:
        """What the published number shows of its inputs."""
        return (
            f"contradicted if a published number ({self.number.published}) is what different inputs give within "
            "10%, of a model with itself too, and one "
            f"set of inputs does not, by the same records, the same metric and after {self.number.stated} iterations; "
            "not yet tested without such records"
        )

    def __call__(self, evidence: Evidence) -> Finding:
        """Both readings of one training, after the stated iterations; without those, after the number at which the
        published one is nearest, which decides nothing.
        """
        reading = evidence.readings.get((self.number.model, self.number.activation))
        if reading is None:
            return unexplained(self.number.correct(evidence), UNPAIRED)
        published = self.number.published
        nearest = min(reading.iterations, key=lambda i: abs(reading.between(iteration=i).value - published))
        step = self.number.stated if self.number.stated in reading.iterations else nearest
        two, one, same = (
            reading.between(iteration=step).value,
            reading.itself(iteration=step).value,
            reading.paired(iteration=step),
        )
        said = (
            f"total variation after {step} iterations: {two:.3f} on different inputs, {one:.3f} of a model with "
            f"itself, {measured(same)} on one set"
        )
        otherwise = (
            step == self.number.stated
            and alike(two, published)
            and alike(one, two)
            and not (same.low <= published <= same.high)
        )
        return replace(
            decided(False if otherwise else None, said, "records at lite scale, read both ways"),
            since=since([reading.arm.record]),
        )


@dataclass(frozen=True)
class TradeOff:
    """More accurate models are less reproducible: an artefact if correctly read it fails and each model shows it
    against itself.
    """

    correct: Recorded
    page: str = AUTOPSY
    kind: Kind = "outcome"

    @property
    def rule(self) -> str:
        """The correct test's, and what makes an artefact."""
        return (
            f"{self.correct.rule}; artefact if it fails so and the published reading gives a rank correlation above "
            f"{STRONG} for models against themselves "
            "as well"
        )

    def __call__(self, evidence: Evidence) -> Finding:
        """Over every recorded reading: models at several iterations. What is left open when read correctly stays so,
        whatever the reading gives.
        """
        correct = self.correct(evidence)
        points = [(r, step) for r in evidence.readings.values() if LEAK not in r.defects for step in r.iterations]
        if len(points) < FEWEST or len({r.arm.model for r, _ in points}) < 2:
            return correct
        accuracy = [r.value("val_accuracy", step).value for r, step in points]
        two = _rank(accuracy, [r.between(iteration=step).value for r, step in points])
        one = _rank(accuracy, [r.itself(iteration=step).value for r, step in points])
        if one <= STRONG:
            return correct
        said = (
            f"rank correlation of accuracy with the published reading ({len(points)} points): {two:.2f}, of a model "
            f"with itself {one:.2f}"
        )
        found = explained(correct, decided(two > STRONG, said, ""), UNPAIRED)
        return (
            found
            if found.verdict == "artefact"
            else replace(found, ours=f"{found.ours}; {said}, so it needs no second model")
        )


def _rank(first: Sequence[float], second: Sequence[float]) -> float:
    return float(rank_correlation(np.array([[first], [second]]))[0])


@dataclass(frozen=True)
class MixedMetrics:
    """SwiGLU's advantage in the published table: an artefact if it comes of one metric for swiglu and another for
    relu, and not of either alone.
    """

    correct: Recorded
    model: str
    first: str
    second: str
    published: float = 0.45
    stated: int = 500
    """Iterations, as the text has them."""
    page: str = AUTOPSY
    kind: Kind = "outcome"

    @property
    def rule(self) -> str:
        """The correct test's, and what makes an artefact."""
        share = f"{100 * self.published:.0f}%"
        return (
            f"{self.correct.rule}; artefact if, read the published way after {self.stated} iterations, {self.first}'s "
            f"total variation lies {share} (within a tenth of it) below {self.second}'s relative PD, while both arms' "
            "values of one metric are within 10%; not yet tested while that reading has no such record"
        )

    def __call__(self, evidence: Evidence) -> Finding:
        """From the two arms read after the same number of iterations."""
        correct, (one, two) = (
            self.correct(evidence),
            (evidence.readings.get((self.model, a)) for a in (self.first, self.second)),
        )
        if one is None or two is None:
            return unexplained(correct, MIXED)
        coded, other, element = one.between().value, two.between().value, two.between("relative_pd").value
        gap = 1 - coded / element
        same = alike(coded, other) and alike(one.between("relative_pd").value, element)
        said = (
            f"{self.first}'s total variation {coded:.3f} is {100 * gap:.0f}% below {self.second}'s relative PD "
            f"{element:.3f}; "
            f"total variation for both: {coded:.3f} and {other:.3f}"
        )
        if not all(self.stated in reading.iterations for reading in (one, two)):
            return unexplained(replace(correct, ours=f"{correct.ours} (published readings: {said})"), MIXED)
        return explained(correct, decided(alike(gap, self.published) and same, said, ""), MIXED)
