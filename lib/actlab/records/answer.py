"""The answer: activations compared at equal validation loss by the rules of the registered plan (params/answer.yaml).

Every rule that is applied here stands in the plan: the reference, the family, the margin, which arms are left out, when
a hypothesis counts as supported.  All intervals leave one seed at a time out of all arms and repeat the whole
computation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from actlab.records.families import comparisons
from actlab.records.remedies import ENSEMBLE, Remedy, by_name, remedies
from actlab.records.repro import Grid
from actlab.records.wording import listing, signed
from actlab.statistics.equal_loss import (
    Curves,
    Decision,
    EqualLoss,
    decide,
    equal_loss,
    read_at,
    read_at_equal_seeds,
    shared_seeds,
)
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import Chosen, jackknife
from actlab.statistics.significance import ALPHA, Cells, adjusted, equivalence_p

Word = Literal["supported", "contradicted", "undecided"]
Plan = Mapping[str, Any]
"""The ``plan`` of a params file, as plain values."""
Seeds = NDArray[np.intp]
Reader = Callable[[Mapping[str, Curves], Seeds], tuple[NDArray[np.float64], float]]
METRIC = "total_variation"


@dataclass(frozen=True)
class Hypothesis:
    """What the rule of one hypothesis says of the records, and the numbers that it rests on."""

    name: str
    outcome: Word
    detail: str
    note: str = ""
    """What a reader of the outcome alone should know."""

    @property
    def told(self) -> str:
        """The outcome and the note."""
        return f"{self.outcome} ({self.note})" if self.note else self.outcome


@dataclass(frozen=True)
class Answer:
    """The recorded arms of a confirmatory study and its plan."""

    grid: Grid
    plan: Plan
    planned: int = 0
    """How many comparisons the study's params file lists: the size of every family, records or not."""

    @property
    def reference(self) -> str:
        """The activation with which the others are compared."""
        return str(self.plan["reference"])

    @property
    def margin(self) -> float:
        """Of equivalence, in the primary outcome's unit."""
        return next(float(outcome["margin"]) for outcome in self.plan["outcomes"] if outcome.get("primary"))

    @property
    def kept(self) -> Grid:
        """Without the arms that the plan leaves out: those whose mean final loss is not below the bigram table's."""
        bound = float(self.grid.baseline["bigram"]["val_loss"]) if self.grid.baseline else math.inf
        arms = {cell: arm for cell, arm in self.grid.arms.items() if arm.estimate("val_loss").value < bound}
        return replace(self.grid, arms=arms)

    def only(self, *activations: str) -> Answer:
        """Of these activations alone, so that no other sets the loss at which they are compared."""
        arms = {cell: arm for cell, arm in self.grid.arms.items() if cell[1] in activations}
        return replace(self, grid=replace(self.grid, arms=arms))

    def arms(self, metric: str = METRIC) -> dict[str, dict[str, Curves]]:
        """model -> activation -> curves, of the models whose reference arm and at least one other are there and not
        left out."""
        kept = self.kept
        found = {model: {arm.activation: arm.curves(metric) for arm in kept.of_model(model)} for model in kept.models}
        return {model: arms for model, arms in found.items() if self.reference in arms and len(arms) > 1}

    def levels(self, metric: str = METRIC, earlier: float = 0.0) -> dict[str, EqualLoss]:
        """model -> its arms at the loss that all of them reach."""
        return {model: equal_loss(arms, self.reference, earlier) for model, arms in self.arms(metric).items()}

    def comparisons(self, metric: str = METRIC, earlier: float = 0.0) -> dict[tuple[str, str], Decision]:
        """(model, activation) -> its difference from the reference at equal loss, one family over all of them."""
        cells = {
            (model, activation): difference
            for model, found in self.levels(metric, earlier).items()
            for activation, difference in found.differences.items()
        }
        return decide(cells, self.margin, self.planned)

    def at_the_end(self, metric: str) -> Cells:
        """(model, activation) -> its difference from the reference after all steps, and its p-value adjusted over all
        of them."""
        return comparisons(self.kept, metric, self.reference, self.planned)

    def pooled(self, activation: str, read: Reader = read_at, models: Collection[str] = ()) -> Estimate:
        """The mean over architectures, all unless given, of an activation's difference from the reference at equal
        loss."""
        found = self.arms().items()
        arms = {model: each for model, each in found if activation in each and (not models or model in models)}
        return jackknife(
            lambda seeds: float(
                np.mean([_differences(found, self.reference, seeds, read)[activation] for found in arms.values()])
            ),
            _seeds(arms),
        )

    def remedies(self) -> dict[str, dict[str, Remedy]]:
        """Remedy -> model -> it, of the reference's arms."""
        return by_name({model: remedies(self.grid.arms[model, self.reference]) for model in self.arms()})

    def seeds_apart(self) -> dict[str, float]:
        """model -> correlation, over the pairs of seeds within its arms at equal loss, of the metric with the distance
        of the two losses."""
        return {model: read_at_equal_seeds(arms, _seeds({model: arms}))[1] for model, arms in self.arms().items()}

    def hypotheses(self) -> list[Hypothesis]:
        """Every hypothesis of the plan that has a rule here, judged."""
        return [judge(self, entry) for entry in self.plan["hypotheses"] if (judge := RULES.get(entry["name"]))]


def _seeds(arms: Mapping[str, Mapping[str, Curves]]) -> Seeds:
    """The seeds that every one of these arms has done."""
    return shared_seeds(curves for found in arms.values() for curves in found.values())


def _values(arms: Mapping[str, Curves], seeds: Seeds, read: Reader = read_at) -> dict[str, float]:
    """activation -> the metric at the loss that all arms reach, of these seeds alone."""
    return dict(zip(arms, map(float, read(arms, seeds)[0]), strict=True))


def _differences(arms: Mapping[str, Curves], reference: str, seeds: Seeds, read: Reader = read_at) -> dict[str, float]:
    found = _values(arms, seeds, read)
    return {name: value - found[reference] for name, value in found.items() if name != reference}


def on_average(answer: Answer, entry: Plan) -> Hypothesis:
    """On average over the architectures all named activations significantly on the stated side of the reference; one on
    the other side, or equivalent, contradicts."""
    found = adjusted({name: answer.pooled(name) for name in entry["activations"]})
    sign = -1 if entry["direction"] == "lower" else 1
    sides = [sign * math.copysign(p < ALPHA, e.value) for e, p in found.values()]  # 1: as stated, -1: opposite
    equivalent = [equivalence_p(e, answer.margin) < ALPHA for e, _ in found.values()]
    against = [
        name for name, side, same in zip(found, sides, equivalent, strict=True) if side < 0 or (not side and same)
    ]
    word: Word = "contradicted" if against else "supported" if all(side > 0 for side in sides) else "undecided"
    detail = "; ".join(f"{name} {signed(e, 4)}, p = {p:.3g}" for name, (e, p) in found.items())
    return Hypothesis(entry["name"], word, detail, f"by {listing(against)}" if len(found) > len(against) > 0 else "")


def _ensemble(answer: Answer, entry: Plan) -> Hypothesis:
    """What two networks of half the steps take off the reference's total variation, minus the largest difference of an
    activation."""
    found = answer.remedies().get(ENSEMBLE.format(2), {})
    each, mean = {model: beyond(answer, {model: two}) for model, two in found.items()}, beyond(answer, found)
    above = all(e.value > 0 for e in each.values()) and mean.low > 0
    word: Word = "supported" if each and above else "contradicted" if mean.high < 0 else "undecided"
    told = [f"{name} {signed(e, 4)}" for name, e in {"on average": mean, **each}.items()]
    return Hypothesis(entry["name"], word, f"beyond any activation: {'; '.join(told)}")


def beyond(answer: Answer, found: Mapping[str, Remedy]) -> Estimate:
    """What a remedy takes off the reference's total variation minus the largest absolute difference of an activation
    from the reference at equal loss, of the same seeds: the mean over the architectures (model -> remedy)."""
    arms = {model: answer.arms()[model] for model in found}
    labels = {model: np.array(remedy.plain.labels) for model, remedy in found.items()}

    def gain(model: str, seeds: Chosen) -> float:
        places = np.flatnonzero(np.isin(labels[model], seeds))
        most = max(map(abs, _differences(arms[model], answer.reference, places).values()))
        return -found[model].minus_plain(seeds) - most

    shared = [np.intersect1d(found[m].seeds, labels[m][_seeds({m: arms[m]})]) for m in found]
    return jackknife(
        lambda seeds: float(np.mean([gain(model, seeds) for model in found])),
        reduce(np.intersect1d, shared) if shared else np.arange(0),
    )


def _architectures(answer: Answer, entry: Plan) -> Hypothesis:
    """Log of the ratio of two standard deviations at equal loss: between architectures, and between activations within
    them."""
    arms = answer.arms()

    def log_ratio(seeds: Seeds) -> float:
        values = [list(_values(found, seeds).values()) for found in arms.values()]
        between = np.std([np.mean(row) for row in values], ddof=1)
        within = math.sqrt(np.mean([np.var(row, ddof=1) for row in values]))
        return math.log(between / within)

    found = jackknife(log_ratio, _seeds(arms) if len(arms) > 1 else np.arange(0))
    word: Word = "supported" if found.low > 0 else "contradicted" if found.high < 0 else "undecided"
    return Hypothesis(
        entry["name"],
        word,
        f"ratio {math.exp(found.value):.1f} [{math.exp(found.low):.1f}, {math.exp(found.high):.1f}]"
        if len(arms) > 1
        else "needs two architectures",
    )


RULES: dict[str, Callable[[Answer, Plan], Hypothesis]] = {
    "smooth activations are more reproducible": on_average,
    "swiglu is less reproducible": on_average,
    "an ensemble of two does more than the activation": _ensemble,
    "architectures differ more than activations": _architectures,
}
"""Name of a hypothesis in the plan -> the code of its ``supported_if``."""
