"""General rules that read records: a published mean, a number made of means, equal losses, settings as stated.

A row of ``claims.yaml`` names one and gives its arguments; rules that serve one claim stand in files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from actlab.records.arm_results import ArmResults, combined
from actlab.records.labels import METRICS, of_trials, words
from actlab.records.settings import place
from actlab.statistics.estimate import Array
from actlab.statistics.means import coefficient_of_variation
from actlab_audit import numbers
from actlab_audit.ablation import Factorial
from actlab_audit.evidence import READ, STUDIES, Arms, Evidence, iterations, since
from actlab_audit.mnist import Sweep
from actlab_audit.verdicts import (
    Between,
    Finding,
    Judged,
    absent,
    all_of,
    by_signs,
    decided,
    elsewhere,
    expected,
    explained,
    measured,
    ran,
    unexplained,
    within,
)

ANY = tuple(STUDIES)
RELU = ("relu",)
SAME = 0.1
"""Two means are alike if they differ by less than 10%."""
IDENTICAL = 5e-5
"""Losses that agree to the four decimals that were printed."""


def alike(first: float, second: float) -> bool:
    """Within 10% of the second."""
    return bool(abs(first - second) <= SAME * second)


def label(metric: str) -> str:
    """A metric's name for people, without its unit."""
    return METRICS[metric].short


def of_records(judge: Callable[..., Judged], conclude: Callable[..., Finding] = decided) -> Callable[..., Finding]:
    """A rule from ``judge(arms, **arguments)``, which is given the arms of some models with some activations.

    The rule's own arguments:
        models, activations: of the arms, which stand in this order, all models of one activation together.
        scales: at which the arms are looked for; the first that has them all is judged, or ``across`` all of them.
        claimed: the claim's own scales, where those are not ``scales``: they come first, and only their records decide.
        fuller: of ``Evidence.arms``.
        flaw: of the published work; where it has records they are judged beside the correct ones. An artefact may be
            shown at another scale (a flaw of reading: at the claim's own scale and length alone); that the flaw does
            not give a number decides at the claim's own alone.
    """

    @wraps(judge)
    def rule(
        evidence: Evidence,
        models: Sequence[str],
        activations: Sequence[str] = RELU,
        scales: Sequence[str] = ANY,
        across: bool = False,
        claimed: Sequence[str] = (),
        flaw: str = "",
        fuller: bool = False,
        **arguments: Any,
    ) -> Finding:
        cells = [(m, a) for a in activations for m in models]
        scales = list(dict.fromkeys([*claimed, *scales]))
        found = evidence.having(cells, [scales] if across else [[scale] for scale in scales], fuller)
        if found is None:
            where = (" and " if across else " or ").join(scales)
            return absent(f"waits for records of {_missing(evidence, cells, scales)} at {where} scale")
        scale, arms = found
        ours = conclude(*judge(arms, **arguments), f"records at {scale} scale")
        stated, read, tried, length = claimed or [scale], list(arms.values()), set(), _length(arms)
        for at, flawed in evidence.with_flaw(flaw, cells):
            if flaw in READ and at not in stated:
                continue
            read += flawed.values()
            with_flaw = conclude(*judge(flawed, **arguments))
            if flaw not in READ or _length(flawed) == length:
                tried.add(at)
                ours = explained(ours, with_flaw, flaw)
            if ours.verdict == "contradicted":
                place = f"{words(flaw)}, {at}, {_length(flawed)} iterations"
                ours = replace(ours, ours=f"{ours.ours} (with {place}: {with_flaw.ours})")
        if scale not in stated:
            ours = elsewhere(ours, " or ".join(stated))
        ours = unexplained(ours, "" if tried & {*stated} else flaw)
        return replace(ours, since=since(arm.record for arm in read))

    return rule


def _length(arms: Arms) -> int:
    return iterations(next(iter(arms.values())))


def _missing(evidence: Evidence, cells: Iterable[tuple[str, str]], scales: Iterable[str]) -> str:
    recorded = {cell for scale in scales for cell in evidence.arms(scale)}
    missing = [" ".join(cell) for cell in sorted(set(cells) - recorded or cells)]
    return ", ".join(missing[:3]) + (f" and {len(missing) - 3} more arms" if len(missing) > 3 else "")


@of_records
def mean(arms: Arms, published: Mapping[str, float], trials: int = 3) -> Judged:
    """The published means (metric -> value) of a model, the same for all ``activations``, could be means of ours."""
    answers, said = [], []
    for (_, activation), arm in arms.items():
        for metric, value in published.items():
            share = value / 100 if metric == "val_accuracy" else 0.0
            extra = 100 * math.sqrt(share * (1 - share) / numbers.accuracy_positions / trials)  # binomial error
            answers.append(within(expected(arm.estimate(metric), trials, extra), Between(value, value)))
            said.append(f"{activation} {label(metric)} {measured(arm.shown(metric))}")
            if not of_trials(metric) and (alone := arm.record.get("itself")):
                one, two = np.mean([pair[metric] for pair in alone]), arm.estimate(metric).value
                answers[-1] = alike(two, value) and alike(one, two)
                said[-1] += f", of a model with itself {one:.3f}"
    return all_of(answers), f"{next(iter(arms))[0]} {'; '.join(said)}"


@of_records
def identical(arms: Arms) -> Judged:
    """In each model trials of one seed end with the same validation loss whatever the activation."""
    losses = pd.DataFrame({cell: pd.Series(arm.values("val_loss"), arm.labels) for cell, arm in arms.items()}).T
    gaps = losses.groupby(level=0, sort=False).agg(lambda own: np.ptp(own.to_numpy())).max(axis="columns")
    said = ", ".join(f"{model} {gap:.2g}" for model, gap in gaps.items())
    said = f"largest difference of the validation loss of one seed between activations: {said}"
    return bool((gaps < IDENTICAL).all()), said


def _halves(means: Array) -> Array:
    """(2, models) those of the first of two activations, or sizes, and those of the second."""
    return means.reshape(2, -1)


def _dominance(means: Array) -> float:
    """How far architectures lie apart (their means over two activations, or two sizes), over how far the two of each
    do."""
    return float(_halves(means).mean(axis=0).std() / np.sqrt(_halves(means).var(axis=0).mean()))


FORMULAS: dict[str, Callable[[Array], float]] = {
    "average": np.mean,
    "change": lambda means: 100 * (means[1] / means[0] - 1),
    "cv": coefficient_of_variation,
    "difference_of_averages": lambda means: float(np.subtract(*_halves(means).mean(axis=1))),
    "dominance": _dominance,
    "percent_below": lambda means: 100 * (1 - means[0] / means[1]),
    "range": np.ptp,
    "ratio": lambda means: means[0] / means[1],
}
"""Name -> (A,) means of the arms, in their order -> a number."""
QUOTIENTS = ("dominance", "ratio")
"""Formulas whose interval is on a log scale: none can be negative, and a noisy denominator makes them skew. One that
contains the published number and 1 too decides nothing."""


@of_records
def number(arms: Arms, what: str, of: str, metric: str, published: Sequence[float], trials: int = 0) -> Judged:
    """A published number that is a function of several arms' means.

    Args:
        arms: whose means go into it, in their order.
        what: it is, in words.
        of: a key of ``FORMULAS``.
        metric: of the means.
        published: from, to.
        trials: an arm had, where the published number is noisy itself; 0: it is taken as it stands.
    """
    ours = combined(list(arms.values()), metric, FORMULAS[of])
    ours = ours.above_zero() if of in QUOTIENTS else ours
    span = expected(ours, trials) if trials else Between(ours.low, ours.high)
    said = measured(ours.above_zero(), 2) if trials else measured(ours)
    answer = within(span, Between(*published))
    undecided = of in QUOTIENTS and answer == "too wide" and span.low <= 1 <= span.high
    return None if undecided else answer, f"{what}: {said}"


@of_records
def ordered(arms: Arms, metric: str, sign: int, neighbours: bool = False) -> Judged:
    """The metric of the first model (or activation, if there are several) minus that of each other has a sign.

    Args:
        arms: of one activation, or of one list of models, over which is then averaged.
        metric: that is compared.
        sign: 1: the first is the highest; -1: the lowest.
        neighbours: each is compared with the next, instead of the first with all.
    """
    groups: dict[str, list[ArmResults]] = {}
    several = len({activation for _, activation in arms}) > 1
    for (model, activation), arm in arms.items():
        groups.setdefault(activation if several else model, []).append(arm)
    first, *others = groups
    pairs = list(pairwise(groups) if neighbours else ((first, other) for other in others))
    found = [combined([*groups[a], *groups[b]], metric, FORMULAS["difference_of_averages"]) for a, b in pairs]
    said = "; ".join(f"{a} minus {b} {measured(e)}" for (a, b), e in zip(pairs, found, strict=True))
    over = (
        f"mean {label(metric)} over {len(groups[first])} models" if several else f"{label(metric)} under {activation}"
    )
    return by_signs(found, sign), f"{over}: {said}"


def _holds(fact: Any, stated: Any) -> bool:
    """A list is stated: all of it is there; a range: it holds the number; one value: there is no other."""
    if isinstance(stated, list):
        return set(stated) <= set(fact)
    if isinstance(stated, dict):
        return bool(stated["from"] <= fact <= stated["to"])
    return bool(fact in (stated, [stated]))


def _told(value: Any) -> Any:
    """The values of a list with commas; what is no list stays."""
    if not isinstance(value, list):
        return value
    return ", ".join(each if isinstance(each, str) else f"{each:g}" for each in value)


def _compared(facts: Iterable[Mapping[str, Any]], what: str, says: str, stated: Mapping[str, Any]) -> tuple[bool, str]:
    """Whether all facts are as stated (nothing stated: that they are there is all), and the facts in words."""
    found = list(facts)
    said = sorted({says.format(**{name: _told(value) for name, value in fact.items()}) for fact in found})
    holds = all(_holds(fact[name], value) for fact in found for name, value in stated.items())
    return holds, f"recorded {what}: {'; '.join(said)}"


@partial(of_records, conclude=ran)
def as_stated(arms: Arms, what: str, says: str, stated: Mapping[str, Any] | None = None) -> Judged:
    """Settings with which our language models were trained: ``says`` tells them by the names of ``_facts``."""
    return _compared(map(_facts, arms.values()), what, says, stated or {})


def _facts(arm: ArmResults) -> dict[str, Any]:
    """What a record says of an arm's settings."""
    config, data = arm.record["config"], arm.record["provenance"]["data"]
    facts = config.get("model_size", {}) | config["recipe"] | data
    if "validation_positions" in data:  # the last character of the split, a tenth of the text, is only predicted
        facts["validation_characters"] = data["validation_positions"] + 1
        facts["million_characters"] = 10 * facts["validation_characters"] / 1e6
    return facts | {"model": arm.model, "activation": arm.activation, "trials": len(arm.labels), "seeds": arm.labels}


def recorded(study: Sweep | Factorial, what: str, says: str, stated: Mapping[str, Any]) -> Finding:
    """Settings that some trial of an image sweep or an ablation ran with: ``says`` tells the levels of its columns."""
    levels = {name: sorted(study.trials[name].unique().tolist(), key=place) for name in stated}
    return ran(*_compared([levels], what, says, stated))
