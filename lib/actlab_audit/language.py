"""Rules of single claims on language models: orders of arms, and the published reading on different inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from scipy import stats

from actlab.records.arm_results import matrix
from actlab.records.defect_names import UNPAIRED
from actlab.statistics.means import pair_mean, spearman
from actlab_audit.evidence import MIXED, Arms, Evidence, iterations, since
from actlab_audit.rules import SAME, alike, label, number, of_records
from actlab_audit.verdicts import FLAW, Finding, Judged, absent, decided, explained, measured, signs, unexplained

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
    found = [pair_mean(arm.matrix(first) - arm.matrix(second)) for arm in arms.values()]
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
    correct, points = correlated(evidence, first=first, second=second, **arguments), evidence.readings
    if correct.verdict == "undecided":
        correct = replace(correct, lacks="more architectures")
    if len(points) < FEWEST or points["model"].nunique() < 2:
        return correct
    two, one = points.corr("spearman", numeric_only=True)[second][["between", "itself"]]
    if not one > STRONG:
        return correct
    said = f"{correct.ours}; rank correlation of accuracy with the published reading ({len(points)} points): {two:.2f}"
    told = replace(correct, ours=f"{said}, of a model with itself {one:.2f}")
    return explained(told, decided(two > STRONG, "it needs no second model"), UNPAIRED)


def one_set(evidence: Evidence, model: str, activation: str, published: float, stated: int) -> Finding:
    """R55: predictions are compared on one set of inputs: contradicted by a published number that only different
    inputs give, of a model with itself too; other than the stated iterations decide nothing."""
    cell = model, activation
    for scale, arms in evidence.with_flaw(UNPAIRED, [cell]):
        if scale == "lite":
            arm, step = arms[cell], iterations(arms[cell])
            same = pair_mean(matrix(arm.labels, arm.record["correctly"], "total_variation"))
            two, one = (
                float(np.mean([pair["total_variation"] for pair in pairs]))
                for pairs in (arm.record["reproducibility_metrics"], arm.record["itself"])
            )
            said = f"total variation after {step} iterations: {two:.3f} on different inputs, {one:.3f} of a model with "
            said += f"itself, {measured(same)} on one set"
            different = alike(two, published) and alike(one, two) and same.excludes(published)
            found = decided(
                False if step == stated and different else None, said, "records at lite scale, read both ways"
            )
            return replace(found, since=since([arm.record]), lacks=FLAW if found.verdict == "undecided" else "")
    return absent(f"waits for records of {model} {activation} at lite scale, read as published")


def mixed_metrics(
    evidence: Evidence, models: Sequence[str], activations: Sequence[str], gain: float, stated: int, **arguments: Any
) -> Finding:
    """R03: the first activation's advantage: an artefact if it comes of one metric for it and another for the second,
    and not of either alone, both arms being read as published after the stated iterations."""
    correct = number(evidence, models, activations, **arguments)
    for scale, arms in evidence.with_flaw(UNPAIRED, [(models[0], a) for a in activations]):
        if scale == "lite":
            coded, other = (arm.estimate("total_variation").value for arm in arms.values())
            relative, element = (arm.estimate("relative_pd").value for arm in arms.values())
            first, second = activations
            below, length = 1 - coded / element, iterations(next(iter(arms.values())))
            said = f"{first}'s total variation {coded:.3f} is {100 * below:.0f}% below {second}'s relative PD "
            said += f"{element:.3f}; total variation for both: {coded:.3f} and {other:.3f}"
            if length == stated:
                holds = alike(below, gain) and alike(coded, other) and alike(relative, element)
                return explained(correct, decided(holds, said), MIXED)
            correct = replace(correct, ours=f"{correct.ours} (read as published after {length} iterations: {said})")
    return unexplained(correct, MIXED)
