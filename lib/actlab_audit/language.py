"""Rules of single claims on language models: orders of arms, and the published reading on different inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from scipy import stats

from actlab.records.defects import BOTH, UNPAIRED
from actlab.statistics.means import pair_mean_difference, spearman
from actlab_audit.evidence import Arms, Evidence, since
from actlab_audit.readings import Reading
from actlab_audit.rules import SAME, alike, label, mean, number, of_records
from actlab_audit.verdicts import Finding, Judged, decided, explained, measured, signs, unexplained

MIXED = "two metrics in one table"
GAIN = 0.1
"""The share of the reference's difference that a benefit has at least, where one is to be excluded."""
MOST = 7
"""Models whose orders are all counted."""
STRONG, FEWEST = 0.7, 6
"""A rank correlation that makes a trade-off, and the points for it, of two architectures at least."""


@of_records
def never_lower(arms: Arms, metric: str) -> Judged:
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
def same_metric(arms: Arms, first: str, second: str) -> Judged:
    """T94: two metrics say the same number: no difference that is significant, nor ``SAME`` of the second within any
    interval."""
    found = [pair_mean_difference(arm.matrix(first), arm.matrix(second)) for arm in arms.values()]
    allowed = [SAME * arm.estimate(second).value for arm in arms.values()]
    small = all(-most <= e.low and e.high <= most for e, most in zip(found, allowed, strict=True))
    said = [
        ", ".join([m, *(f"{label(metric)} {arm.estimate(metric).value:.3f}" for metric in (first, second))])
        for (m, _), arm in arms.items()
    ]
    holds = False if any(signs(found)) else True if small else None
    return holds, f"{'; '.join(said)}; n = {next(iter(arms.values())).estimate(first).n}"


@cache
def smallest_significant(n: int) -> float:
    """The smallest rank correlation of n points without ties that the exact two-sided permutation test calls
    significant at 5%; nan where none is."""
    found = np.sort([spearman(np.arange(n), np.array(p)) for p in permutations(range(n))])[::-1]
    allowed = int(0.025 * len(found))
    edge = found[allowed]
    reached = found[found > edge + 1e-9]
    return float(reached.min()) if len(reached) else float("nan")


@of_records
def correlated(arms: Arms, first: str, second: str) -> Judged:
    """Over models, two metrics rise together: the exact permutation test of their rank correlation."""
    x, y = (np.array([arm.estimate(metric).value for arm in arms.values()]) for metric in (first, second))
    found = stats.permutation_test((x,), lambda x: spearman(x, y), permutation_type="pairings", vectorized=False)
    said = f"rank correlation of {label(first)} and {label(second)} over {len(arms)} models: {found.statistic:.2f}"
    said += f" (significant from {smallest_significant(len(arms)):.3f})" if len(arms) <= MOST else ""
    undecided = np.isnan(found.statistic) or found.pvalue >= 0.05
    return None if undecided else bool(found.statistic > 0), f"{said}, exact p = {found.pvalue:.3f}"


def trade_off(evidence: Evidence, first: str, second: str, **arguments: Any) -> Finding:
    """T33: more accurate models are less reproducible: an artefact if correctly read it fails, and each model shows it
    against itself, over every recorded reading. What is left open when read correctly stays so."""
    correct = correlated(evidence, first=first, second=second, **arguments)
    points = [(r, step) for r in evidence.readings.values() if BOTH not in r.defects for step in r.iterations]
    if len(points) < FEWEST or len({r.arm.model for r, _ in points}) < 2:
        return correct
    accuracy = [r.value(second, step).value for r, step in points]
    two = spearman(accuracy, [r.between(iteration=step).value for r, step in points])
    one = spearman(accuracy, [r.itself(iteration=step).value for r, step in points])
    if one <= STRONG:
        return correct
    said = f"{correct.ours}; rank correlation of accuracy with the published reading ({len(points)} points): {two:.2f}"
    told = replace(correct, ours=f"{said}, of a model with itself {one:.2f}")
    return explained(told, decided(two > STRONG, "it needs no second model"), UNPAIRED)


def _unpaired(reading: Reading, stated: int, metric: str, published: float) -> tuple[int, float, float, bool]:
    """(iterations, difference between models, of a model with itself, whether both are alike the published one) after
    the stated iterations; without those, after the ones at which the published number is nearest."""
    near = min(reading.iterations, key=lambda i: abs(reading.between(metric, i).value - published))
    step = stated if stated in reading.iterations else near
    two, one = reading.between(metric, step).value, reading.itself(metric, step).value
    return step, two, one, alike(two, published) and alike(one, two)


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
    step, two, one, holds = _unpaired(reading, stated, metric, published)
    said = f"{two:.3f} between two models and {one:.3f} of a model with itself, after {step} iterations"
    return _read(correct, step == stated, holds, said, UNPAIRED)


def one_set(evidence: Evidence, model: str, activation: str, published: float, stated: int) -> Finding:
    """R55: predictions are compared on one set of inputs: contradicted by a published number that only different
    inputs give, of a model with itself too; other than the stated iterations decide nothing.
    """
    reading = evidence.readings.get((model, activation))
    if reading is None:
        return read_unpaired(evidence, model, activation, published, stated)
    step, two, one, alone = _unpaired(reading, stated, "coded_pd", published)
    same = reading.paired(step)
    said = f"total variation after {step} iterations: {two:.3f} on different inputs, {one:.3f} of a model with itself"
    different = alone and same.excludes(published)
    found = decided(
        False if step == stated and different else None,
        f"{said}, {measured(same)} on one set",
        "records at lite scale, read both ways",
    )
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
