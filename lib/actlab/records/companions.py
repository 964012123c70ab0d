"""The companions of the confirmatory study (fresh seeds, other rates for relu, a second text, a common rate, a falling
rate, longer training), each judged by the rules of its own registered plan, which look back to other studies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from actlab.records.answer import METRIC, Answer, Hypothesis, Plan, Word, beyond, on_average
from actlab.records.remedies import FALLING, Remedy, remedies
from actlab.records.repro import ArmResults
from actlab.records.wording import signed
from actlab.statistics.equal_loss import Decision, decide, equal_loss
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import spearman
from actlab.statistics.significance import ALPHA, Cells, adjusted

FURTHER = 0.25
"""The further level of params/answer-same-rate.yaml, near the loss at which the main study reads tinylstm."""
Cell = tuple[str, str]
"""Model, activation."""
Remedied = dict[Cell, dict[str, Remedy]]
"""The remedies of each, by name."""


@dataclass(frozen=True)
class Companion:
    """A companion and what its plan looks back to: the main study, that of the fresh seeds, or arms of several."""

    own: Answer
    main: Answer

    def both(self) -> dict[Cell, tuple[Decision, Decision]]:
        """(model, activation) -> its comparison here and in the main study, each judged in its own study's family."""
        main = self.main.comparisons()
        return {cell: (own, main[cell]) for cell, own in self.own.comparisons().items() if cell in main}

    def shared(self) -> Iterator[tuple[Cell, ArmResults, ArmResults]]:
        """(model, activation), its arm here, its arm in the main study: of all that both have."""
        own, main = self.own.kept.arms, self.main.kept.arms
        yield from ((cell, arm, main[cell]) for cell, arm in own.items() if cell in main)

    def of_the_rate(self) -> dict[Cell, Decision]:
        """(model, activation) -> at equal loss, its total variation at the learning rate that it has here minus that at
        its rate in the other study, where they differ; a family of its own."""
        curves = {
            cell: {"main": there.curves(METRIC), "own": here.curves(METRIC)}
            for cell, here, there in self.shared()
            if here.recipe["learning_rate"] != there.recipe["learning_rate"]
        }
        found = {cell: equal_loss(arms, "main").differences["own"] for cell, arms in curves.items()}
        return decide(found, self.own.margin)

    def one_rate(self) -> Answer:
        """The reference here, and the arms of the other study that have its learning rate."""
        return with_one_rate(self.own, self.own.kept.arms.values(), self.main.kept.arms.values())

    def at_one_rate(self) -> dict[Cell, Decision]:
        """(model, activation) -> its comparison at one learning rate; a family of its own."""
        return self.one_rate().comparisons()

    def of_the_rate_there(self) -> dict[str, Estimate]:
        """model -> at the loss of that comparison, the total variation of the reference here minus that of the
        reference in the other study, whose rate is another one (exploratory)."""
        reference, there = self.own.reference, self.main.kept.arms
        return {
            model: equal_loss({**arms, "there": there[model, reference].curves(METRIC)}, "there").differences[reference]
            for model, arms in self.one_rate().arms().items()
            if (model, reference) in there
        }

    def of_model(self, model: str, earlier: float = 0.0) -> dict[Cell, Decision]:
        """(model, activation) -> its comparison here, of one architecture; the family is the whole study's."""
        found = self.own.comparisons(earlier=earlier)
        return {cell: decision for cell, decision in found.items() if cell[0] == model}

    def again(self) -> dict[Cell, Decision]:
        """(model, activation) -> its comparison here, of all that are more reproducible in the other study."""
        return {cell: here for cell, (here, there) in self.both().items() if there.outcome == "more reproducible"}

    def hypotheses(self) -> list[Hypothesis]:
        """Every hypothesis of the companion's plan, judged; none before both studies have an arm in common."""
        return [RULES[entry["name"]](self, entry) for entry in self.own.plan["hypotheses"] if [*self.shared()]]


def with_one_rate(own: Answer, references: Iterable[ArmResults], others: Iterable[ArmResults]) -> Answer:
    """A study's plan over arms of several: of each architecture the reference, and the others that share its seeds and
    its learning rate."""
    arms: dict[Cell, ArmResults] = {}
    for pair in product(references, others):
        ours, theirs = ((arm.model, arm.labels, arm.recipe["learning_rate"]) for arm in pair)
        if ours == theirs and pair[0].activation == own.reference:
            arms |= {(arm.model, arm.activation): arm for arm in pair}
    models, activations = (tuple(dict.fromkeys(names)) for names in zip(*arms, strict=True)) if arms else ((), ())
    return replace(own, grid=replace(own.grid, models=models, activations=activations, arms=arms))


def remedied(main: Answer, falling: Answer, cells: Iterable[Cell]) -> Remedied:
    """The remedies of some arms of the main study, the falling rate where it is recorded."""
    arms = main.kept.arms
    return {cell: remedies(arms[cell], falling.grid.arms.get(cell)) for cell in cells if cell in arms}


def beyond_activations(answer: Answer, found: Remedied) -> Cells:
    """(model, remedy) -> what it takes off the reference's total variation, minus the largest difference of an
    activation at equal loss; adjusted over all of them."""
    ours = {
        (model, name): beyond(answer, {model: remedy})
        for (model, activation), every in found.items()
        for name, remedy in every.items()
        if activation == answer.reference and model in answer.arms()
    }
    return adjusted(ours)


def _signs(holds: Callable[[list[int], float], bool], companion: Companion, entry: Plan) -> Hypothesis:
    """Comparisons of two studies: one that is significant in both with opposite signs contradicts; ``holds`` says what
    supports, of the number that is significant in each and of the rank correlation of the differences."""
    both = {cell: pair for cell, pair in companion.both().items() if cell[1] in entry["activations"]}
    if not (pairs := [*both.values()]):
        return Hypothesis(entry["name"], "undecided", "no comparison yet")
    values = np.array([[d.difference.value for d in pair] for pair in pairs])
    significant = np.array([[d.adjusted < ALPHA for d in pair] for pair in pairs])
    opposite = int((significant.all(axis=1) & (values.prod(axis=1) < 0)).sum())
    (here, there), in_both = significant.sum(axis=0), significant.all(axis=1).sum()
    correlation = spearman(*values.T)
    other = {cell for cell, here, there in companion.shared() if here.record["arm"] != there.record["arm"]}
    changed = sum(product < 0 for cell, product in zip(both, values.prod(axis=1), strict=True) if cell in other)
    word: Word = "contradicted" if opposite else "supported" if holds([here, there], correlation) else "undecided"
    detail = (
        f"of {len(pairs)} comparisons significant here: {here}, in the main study: {there}, in both: {in_both}, "
        f"in both with opposite signs: {opposite}; rank correlation {correlation:+.2f}; "
        f"{len(other & {*both})} of them have runs of their own, of which {changed} change sign"
    )
    own = len(both) - len(other & {*both})
    return Hypothesis(
        entry["name"], word, detail, f"{own} of {len(pairs)} are the main study's own runs" if own else ""
    )


def _lower(
    find: Callable[[Companion], dict[Cell, Decision]], planned: int, companion: Companion, entry: Plan
) -> Hypothesis:
    """All differences that the plan means significantly below 0; one above 0, or equivalent to it, contradicts."""
    found = find(companion)
    outcomes = {d.outcome for d in found.values()}
    complete: Word = "supported" if outcomes == {"more reproducible"} and len(found) == planned else "undecided"
    word: Word = "contradicted" if outcomes & {"less reproducible", "equivalent"} else complete
    told = [f"{a} in {m} {signed(d.difference, 4)}, p = {d.adjusted:.3g}" for (m, a), d in found.items()]
    return Hypothesis(entry["name"], word, "; ".join(told))


def _in(model: str, earlier: float = 0.0) -> Callable[[Companion, Plan], Hypothesis]:
    """As above, of the comparison of one architecture, at one of the plan's levels."""
    return partial(_lower, lambda companion: companion.of_model(model, earlier), 1)


def _falling(companion: Companion, entry: Plan) -> Hypothesis:
    """What a falling rate takes off the reference's total variation at the end, minus the largest difference of an
    activation in the main study, above 0 in every model (Holm over the models)."""
    arms = remedied(companion.main, companion.own, companion.own.grid.arms)
    found = beyond_activations(companion.main, {cell: {FALLING: every[FALLING]} for cell, every in arms.items()})
    sides = [math.copysign(p < ALPHA, e.value) for e, p in found.values()]
    both = len(sides) > 1  # the plan asks for both models
    least = min(sides, default=0.0)
    word: Word = "contradicted" if least < 0 else "supported" if both and least > 0 else "undecided"
    detail = "; ".join(f"{model} {signed(e, 4)}, p = {p:.3g}" for (model, _), (e, p) in found.items())
    return Hypothesis(entry["name"], word, detail)


RULES: dict[str, Callable[[Companion, Plan], Hypothesis]] = {
    "the gains repeat on fresh seeds": partial(_lower, Companion.again, 3),
    "the gains are more than a lower rate": partial(_lower, Companion.at_one_rate, 3),
    "a lower rate is more reproducible": partial(_lower, Companion.of_the_rate, 2),
    "smelu_1's mean is more than its learning rates": lambda companion, entry: on_average(companion.main, entry),
    "smelu_1's gain in nanotransformer is more than a lower rate": _in("nanotransformer"),
    "smelu_1's gain in tinylstm is more than a lower rate": _in("tinylstm"),
    "at an earlier loss smelu_1's gain in tinylstm is more than a lower rate": _in("tinylstm", FURTHER),
    "the differences carry over": partial(_signs, lambda counts, correlation: correlation > 0.5),
    "the rate does not make the differences": partial(_signs, lambda counts, correlation: min(counts) >= 3),
    "the answer holds to the end": partial(_signs, lambda counts, correlation: max(counts) > 0),
    "a falling rate does more than the activation": _falling,
}
"""Name of a hypothesis in a companion's plan -> the code of its ``supported_if``."""
