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
from scipy import stats

from actlab.records.labels import METRICS, words
from actlab.records.settings import place, text
from actlab_audit import numbers
from actlab_audit.ablation import Factorial
from actlab_audit.evidence import READ, Arms, since
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
    positive,
    ran,
    unexplained,
    within,
)

ANY = ("full", "partial", "lite")
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
        fuller: of ``Arms.grid``.
        flaw: of the published work; where it has records they are judged beside the correct ones. An artefact may be
            shown at another scale (a flaw of reading: at the claim's own scale and length alone); that the flaw does
            not give a number decides at the claim's own alone.
    """

    @wraps(judge)
    def rule(
        evidence: Arms,
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
        stated, dates, tried, length = claimed or [scale], [*arms.trials["date"]], set(), _length(arms)
        for at, flawed in evidence.with_flaw(flaw, cells):
            if flaw in READ and at not in stated:
                continue
            dates += [*flawed.trials["date"]]
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
        return replace(ours, since=since(dates))

    return rule


def _length(arms: Arms) -> int:
    return int(arms.trials["iterations"].iloc[0])


def _missing(evidence: Arms, cells: Iterable[tuple[str, str]], scales: Iterable[str]) -> str:
    recorded = {cell for scale in scales for cell in evidence.grid(scale).cells}
    missing = [" ".join(cell) for cell in sorted(set(cells) - recorded or cells)]
    return ", ".join(missing[:3]) + (f" and {len(missing) - 3} more arms" if len(missing) > 3 else "")


@of_records
def mean(arms: Arms, published: Mapping[str, float], trials: int = 3) -> Judged:
    """The published means (metric -> value) of a model, the same for all ``activations``, could be means of ours."""
    answers, said = [], []
    for cell in arms.cells:
        for metric, value in published.items():
            ours, share = arms.means(metric).loc[cell], value / 100 if metric == "val_accuracy" else 0.0
            extra = 100 * math.sqrt(share * (1 - share) / numbers.accuracy_positions / trials)  # binomial error
            answers.append(within(expected(ours, trials, extra), Between(value, value)))
            of_runs = metric in arms.trials
            said.append(f"{cell[1]} {label(metric)} {measured(ours if of_runs else positive(ours))}")
            pairs = arms.of([cell]).pairs
            if not of_runs and not math.isnan(one := pairs[metric].where(pairs["first"] == pairs["second"]).mean()):
                answers[-1] = alike(ours["estimate"], value) and alike(one, ours["estimate"])
                said[-1] += f", of a model with itself {one:.3f}"
    return all_of(answers), f"{arms.cells[0][0]} {'; '.join(said)}"


@of_records
def identical(arms: Arms) -> Judged:
    """In each model trials of one seed end with the same validation loss whatever the activation."""
    wide = arms.trials.pivot(index=["model", "trial"], columns="activation", values="val_loss").dropna()
    gaps = (wide.max(axis=1) - wide.min(axis=1)).groupby("model").max().reindex(dict(arms.cells))
    said = ", ".join(f"{model} {gap:.2g}" for model, gap in gaps.items())
    said = f"largest difference of the validation loss of one seed between activations: {said}"
    return bool((gaps < IDENTICAL).all()), said


def _dominance(means: Any) -> float:
    """How far architectures lie apart (their means over two activations, or two sizes), over how far the two of each
    do."""
    halves = means.reshape(2, -1)  # those of the first of two, and of the second
    return float(halves.mean(axis=0).std() / np.sqrt(halves.var(axis=0).mean()))


FORMULAS: dict[str, Callable[[Any], Any]] = {
    "average": np.mean,
    "change": lambda means: 100 * (means[1] / means[0] - 1),
    "cv": lambda means: 100 * stats.variation(means),
    "difference_of_averages": lambda means: np.subtract(*means.reshape(2, -1).mean(axis=1)),
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
    ours = arms.combined(metric, FORMULAS[of])
    ours = positive(ours) if of in QUOTIENTS else ours
    span = expected(ours, trials) if trials else Between(ours["low"], ours["high"])
    said = measured(positive(ours), 2) if trials else measured(ours)
    answer = within(span, Between(*published))
    undecided = of in QUOTIENTS and answer == "too wide" and span.low <= 1 <= span.high
    return None if undecided else answer, f"{what}: {said}"


@of_records
def ordered(arms: Arms, metric: str, sign: int, neighbours: bool = False) -> Judged:
    """The metric of the first model minus that of each other has a sign.

    Args:
        arms: of one activation.
        metric: that is compared.
        sign: 1: the first is the highest; -1: the lowest.
        neighbours: each is compared with the next, instead of the first with all.
    """
    first, *others = arms.cells
    pairs = [*(pairwise(arms.cells) if neighbours else ((first, other) for other in others))]
    found = pd.DataFrame([arms.of(pair).combined(metric, FORMULAS["difference_of_averages"]) for pair in pairs])
    said = "; ".join(
        f"{a} minus {b} {measured(e)}" for ((a, _), (b, _)), (_, e) in zip(pairs, found.iterrows(), strict=True)
    )
    return by_signs(found, sign), f"{label(metric)} under {first[1]}: {said}"


def _as(rows: pd.DataFrame, what: str, says: str, stated: Mapping[str, Any] | None = None) -> tuple[bool, str]:
    """Whether recorded trials have what is stated of their columns, of ``arms`` (their number) and of ``trials`` (of
    each arm), and what they have, in words. A list is stated: all of it occurs; a range: every value lies in it; one
    value: there is no other."""
    arms = rows.groupby("record").size()
    table = rows.assign(arms=len(arms), trials=rows["record"].map(arms))
    levels = {name: sorted(table[name].unique().tolist(), key=place) for name in table if f"{{{name}}}" in says}
    said = says.format(**{name: ", ".join(map(text, values)) for name, values in levels.items()})
    fits = True
    for name, value in (stated or {}).items():
        found = table[name].unique().tolist()
        if isinstance(value, dict):
            fits &= all(value["from"] <= each <= value["to"] for each in found)
        else:
            fits &= {*value} <= {*found} if isinstance(value, list) else found == [value]
    return fits, f"recorded {what}: {said}"


@partial(of_records, conclude=ran)
def as_stated(arms: Arms, **stated: Any) -> Judged:
    """Settings with which our language models were trained."""
    return _as(arms.trials, **stated)


def recorded(
    study: Sweep | Factorial, where: Mapping[str, Any] | None = None, counted: bool = False, **stated: Any
) -> Finding:
    """Settings that an image sweep or an ablation ran with, in the trials with some values; ``counted``: what a network
    has, which was not chosen."""
    rows = study.trials
    for name, value in (where or {}).items():
        rows = rows[rows[name] == value]
    if rows.empty:
        return absent(f"no record of {stated['what']}")
    return (decided if counted else ran)(*_as(rows, **stated))
