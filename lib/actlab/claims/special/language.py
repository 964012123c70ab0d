"""Rules of single claims on language models: orders of arms, the published reading on different inputs, best against
last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np

from actlab.claims.audited_numbers import numbers, parameters
from actlab.claims.evidence import Arms, Evidence, since
from actlab.claims.rules import label, mean, number, of_records
from actlab.claims.verdicts import FILES, Answer, Finding, decided, explained, signs, unexplained
from actlab.records.autopsy import Reading
from actlab.records.defects import BOTH, FINAL, UNPAIRED
from actlab.records.wording import measured
from actlab.statistics.means import pair_mean_difference, rank_correlation, spearman
from actlab.statistics.power import detectable_two_sample, power_two_sample

MIXED = "two metrics in one table"
GAIN = 0.1
"""The share of the reference's difference that a benefit has at least, where one is to be excluded."""
SAME = 0.1
"""Two means are alike if they differ by less than 10%."""
STRONG, FEWEST = 0.7, 6
"""A rank correlation that makes a trade-off, and the points for it, of two architectures at least."""


@of_records
def lowest(arms: Arms, named: Mapping[str, Sequence[str]], metric: str) -> tuple[Answer, str]:
    """R24: in every model one of the activations named for it has the lowest metric."""
    rivals = list(dict.fromkeys(activation for _, activation in arms))
    cells = [(m, own, other) for m, names in named.items() for own in names for other in rivals if other not in names]
    found = signs(arms[m, own].minus(arms[m, other], metric) for m, own, other in cells)
    against: dict[str, dict[str, set[int]]] = {}
    for (m, own, _), sign in zip(cells, found, strict=True):
        against.setdefault(m, {}).setdefault(own, set()).add(sign)
    beaten = any(all(1 in some for some in each.values()) for each in against.values())
    won = all({-1} in each.values() for each in against.values())
    means = {m: ", ".join(f"{a} {arms[m, a].estimate(metric).value:.3f}" for a in rivals) for m in named}
    said = "; ".join(f"{model}: {text}" for model, text in means.items())
    return False if beaten else True if won else None, f"{label(metric)}, {said}"


@of_records
def never_lower(arms: Arms, metric: str) -> tuple[Answer, str]:
    """R47: in no model is the first activation's metric significantly below the second's, nor by as much as ``GAIN``
    within the interval."""
    activation, reference = dict.fromkeys(a for _, a in arms)
    found = {m: arms[m, activation].minus(arms[m, reference], metric) for m, a in arms if a == reference}
    lower = [m for m, sign in zip(found, signs(found.values()), strict=True) if sign == -1]
    small = all(e.low >= -GAIN * arms[m, reference].estimate(metric).value for m, e in found.items())
    which = f"significantly below in {len(lower)} of {len(found)} models ({', '.join(lower) or 'none'})"
    said = "; ".join(f"{m} {measured(e)}" for m, e in found.items())
    return (
        False if lower else True if small else None,
        f"{label(metric)} of {activation} minus {reference}, {which}: {said}",
    )


@of_records
def same_metric(arms: Arms, first: str, second: str) -> tuple[Answer, str]:
    """T94: two metrics say the same number."""
    differ = signs(pair_mean_difference(arm.matrix(first), arm.matrix(second)) for arm in arms.values())
    pairs = {
        m: [f"{label(metric)} {arm.estimate(metric).value:.3f}" for metric in (first, second)]
        for (m, _), arm in arms.items()
    }
    n = next(iter(arms.values())).estimate(first).n
    return not any(differ), "; ".join(f"{m} {', '.join(pair)}" for m, pair in pairs.items()) + f"; n = {n}"


@of_records
def correlated(arms: Arms, first: str, second: str) -> tuple[Answer, str]:
    """Over models, two metrics rise together: the exact permutation test of their rank correlation."""
    x, y = (np.array([arm.estimate(metric).value for arm in arms.values()]) for metric in (first, second))
    orders = np.array(list(permutations(range(len(arms)))))  # the first is the one found
    every = rank_correlation(np.stack([np.broadcast_to(x, orders.shape), y[orders]]))
    p_value = float((np.abs(every) >= abs(every[0]) - 1e-9).mean())
    said = f"rank correlation of {label(first)} and {label(second)} over {len(arms)} models: {every[0]:.2f}"
    open_ = np.isnan(every[0]) or p_value >= 0.05
    return None if open_ else bool(every[0] > 0), f"{said}, exact p = {p_value:.3f}"


def trade_off(evidence: Evidence, first: str, second: str, **arguments: Any) -> Finding:
    """T33: more accurate models are less reproducible: an artefact if correctly read it fails, and each model shows it
    against itself, over every recorded reading. What is left open when read correctly stays so."""
    correct = correlated(evidence, first=first, second=second, **arguments)
    readings = [r for r in evidence.readings.values() if BOTH not in r.defects]
    points = [(r, step) for r in readings for step in r.iterations]
    if len(points) < FEWEST or len({r.arm.model for r in readings}) < 2:
        return correct
    accuracy = [r.value(second, step).value for r, step in points]
    two, one = (
        spearman(accuracy, values)
        for values in (
            [r.between(iteration=s).value for r, s in points],
            [r.itself(iteration=s).value for r, s in points],
        )
    )
    if one <= STRONG:
        return correct
    said = f"rank correlation of accuracy with the published reading ({len(points)} points): {two:.2f}"
    said += f", of a model with itself {one:.2f}"
    found = explained(correct, decided(two > STRONG, said), UNPAIRED)
    if found.verdict == "artefact":
        return found
    return replace(found, ours=f"{found.ours}; {said}, so it needs no second model")


def alike(first: float, second: float) -> bool:
    """Within 10% of the second."""
    return abs(first - second) <= SAME * second


def _nearest(reading: Reading, stated: int, metric: str, published: float) -> int:
    """The stated iterations; without those, the ones after which the published number is nearest."""
    near = min(reading.iterations, key=lambda i: abs(reading.between(metric, i).value - published))
    return stated if stated in reading.iterations else near


def _read(correct: Finding, as_stated: bool, holds: bool, said: str, flaw: str) -> Finding:
    """What a reading as published explains of a correct finding; one of other iterations is only told."""
    if as_stated:
        return explained(correct, decided(holds, said), flaw)
    return unexplained(replace(correct, ours=f"{correct.ours} (read as published: {said})"), flaw)


def read_unpaired(
    evidence: Evidence, model: str, activation: str, published: float, stated: int, metric: str = "coded_pd"
) -> Finding:
    """R12 to R15: a published difference that correct comparisons do not give: an artefact if the published reading
    does after the stated iterations, of a model with itself too. ``metric``: of that reading.
    """
    correct = mean(evidence, [model], [activation], ["lite"], published={"relative_pd": published})
    reading = evidence.readings.get((model, activation))
    if reading is None:
        return unexplained(correct, UNPAIRED)
    step = _nearest(reading, stated, metric, published)
    two, one = reading.between(metric, step).value, reading.itself(metric, step).value
    said = f"{two:.3f} between two models and {one:.3f} of a model with itself, after {step} iterations"
    return _read(correct, step == stated, alike(two, published) and alike(one, two), said, UNPAIRED)


def one_set(evidence: Evidence, model: str, activation: str, published: float, stated: int) -> Finding:
    """R55: predictions are compared on one set of inputs: contradicted by a published number that only different
    inputs give, of a model with itself too; other than the stated iterations decide nothing.
    """
    reading = evidence.readings.get((model, activation))
    if reading is None:
        return read_unpaired(evidence, model, activation, published, stated)
    step = _nearest(reading, stated, "coded_pd", published)
    two, one, same = (read(iteration=step) for read in (reading.between, reading.itself, reading.paired))
    said = f"total variation after {step} iterations: {two.value:.3f} on different inputs"
    said += f", {one.value:.3f} of a model with itself, {measured(same)} on one set"
    different = alike(two.value, published) and alike(one.value, two.value) and same.excludes(published)
    found = decided(False if step == stated and different else None, said, "records at lite scale, read both ways")
    return replace(found, since=since([reading.arm.record]))


def mixed_metrics(
    evidence: Evidence, models: Sequence[str], activations: Sequence[str], gain: float, stated: int, **arguments: Any
) -> Finding:
    """R03: the first activation's advantage: an artefact if it comes of one metric for it and another for the second,
    and not of either alone, both arms being read as published after the stated iterations.
    """
    correct = number(evidence, models, activations, **arguments)
    readings = [found for a in activations if (found := evidence.readings.get((models[0], a)))]
    if len(readings) < 2:
        return unexplained(correct, MIXED)
    (coded, relative), (other, element) = ([r.between(m).value for m in ("coded_pd", "relative_pd")] for r in readings)
    first, second = activations
    below = 1 - coded / element
    said = f"{first}'s total variation {coded:.3f} is {100 * below:.0f}% below {second}'s relative PD {element:.3f}"
    said += f"; total variation for both: {coded:.3f} and {other:.3f}"
    holds = alike(below, gain) and alike(coded, other) and alike(relative, element)
    return _read(correct, all(stated in reading.iterations for reading in readings), holds, said, MIXED)


def _selected(best: tuple[bool, str], last: tuple[bool, str], flaw: str = FINAL) -> Finding:
    """A claim about the last step of training, set against the same text's best checkpoints."""
    return explained(decided(*best, FILES), decided(*last, FILES), flaw)


def spread(evidence: object, published: float, says: str, best: str, last: str, flaw: str = FINAL) -> Finding:
    """T08, T39: the spread, in percent of the lowest, of the published numbers that two names stand for."""

    def judge(name: str) -> tuple[bool, str]:
        values = [float(np.mean(value)) for value in getattr(numbers, name).values()]
        found = 100 * (max(values) / min(values) - 1)
        return abs(found - published) <= 0.05, says.format(found)

    return _selected(judge(best), judge(last), flaw)


def worse(evidence: object, published: float, before: float, best: float, last: float) -> Finding:
    """T66: a loss that rises by so many percent with scale."""

    def judge(loss: float) -> tuple[bool, str]:
        change = 100 * (loss / before - 1)
        return abs(change - published) <= 0.5, f"{change:+.0f}% against partial scale"

    return _selected(judge(best), judge(last))


def _swish_leads(losses: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether swish has the lowest of charlm's mean losses; all of them."""
    means = sorted((float(np.mean(loss)), activation) for activation, loss in losses.items())
    return means[0][1] == "swish", ", ".join(f"{activation} {loss:.4f}" for loss, activation in means)


def swish_leads(evidence: object) -> Finding:
    """T14: swish is the best of charlm's activations on average."""
    return _selected(_swish_leads(numbers.charlm_best), _swish_leads(numbers.charlm_trials))


def swish_leads_by_seed(evidence: object) -> Finding:
    """T74: swish is the best in every seed; who is lowest in every seed has the lowest mean."""
    by_seed = list(zip(*numbers.charlm_trials.values(), strict=True))
    wins = sum(min(losses) == swish for losses, swish in zip(by_seed, numbers.charlm_trials["swish"], strict=True))
    said = f"swish lowest in {wins} of {len(by_seed)} seeds at the last step"
    return _selected(_swish_leads(numbers.charlm_best), (wins == len(by_seed), said))


def ratio_of_sizes(evidence: object, stated: tuple[float, float]) -> Finding:
    """T58: charlm's two sizes, built."""
    ratio = parameters("charlm", "full") / parameters("charlm", "partial")
    return _computed(stated[0] <= ratio <= stated[1], f"charlm's parameters, full over partial: {ratio:.1f}")


def enough_trials(evidence: object, stated: tuple[int, int]) -> Finding:
    """T90: the number of trials an arm that shows a difference of one standard deviation is one of those advised."""
    needed = next(n for n in range(2, 1000) if power_two_sample(1.0, n) >= 0.8)
    said = f"trials an arm that show a difference of one standard deviation with power 80%: {needed}"
    return _computed(stated[0] <= needed <= stated[1], said)


def three_trials(evidence: object) -> Finding:
    """R65: that three trials reduce noise is a property of a mean; that they are enough is not said."""
    share = 3**-0.5
    said = f"a mean of three independent trials has {100 * share:.0f}% of one trial's standard error; that is not yet "
    said += (
        f"enough: the smallest difference that three an arm show is {detectable_two_sample(3):.2f} standard deviations"
    )
    return _computed(share < 1, said)


def _computed(holds: bool, said: str) -> Finding:
    return decided(holds, said, "computed without records")
