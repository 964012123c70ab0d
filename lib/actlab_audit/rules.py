"""General rules that read records: a published mean, a number made of means, equal losses, settings as stated.

A row of ``claims.yaml`` names one and gives its arguments; rules that serve one claim stand in files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import actlab
from actlab.records.labels import EVERY
from actlab_audit import numbers
from actlab_audit.evidence import (
    ALIKE,
    ARM,
    GRID,
    LENGTHS,
    READ,
    SCORES,
    arms_of,
    combined,
    trained,
    values,
    with_flaw,
)
from actlab_audit.verdicts import (
    CAUSE_OPEN,
    COUNTED,
    Between,
    Finding,
    Judged,
    compared,
    decided,
    explained,
    measured,
    signs,
    unexplained,
)

TRIALS = 3
"""Of a published mean."""
SAME = 0.1
"""Two means are alike if they differ by less than 10%."""
IDENTICAL = 5e-5
"""Losses that agree to the four decimals that were printed."""


def label(metric: str) -> str:
    """A metric's name for people, without its unit."""
    return EVERY[metric].short


def of_records(judge: Callable[..., Judged]) -> Callable[..., Finding]:
    """A rule from ``judge(arms, **arguments)``, which is given the rows of some models with some activations.

    The rule's own arguments:
        models, activations: of the arms, which stand in this order, all models of one activation together.
        scales: the claim's own, whose records decide; the first that has all arms is judged, or ``across`` all scales.
        others: at which the arms are looked for next.
        flaw: of the published work; where it has records they are judged beside the correct ones. An artefact may be
            shown at another scale (a flaw of reading: at the claim's own scale and length alone); that the flaw does
            not give a number decides at the claim's own alone.

    Arms of one activation that were trained a second time under the same settings must answer alike, else the claim is
    undecided.
    """

    @wraps(judge)
    def rule(
        evidence: pd.DataFrame,
        models: Sequence[str],
        activations: Sequence[str] = ("relu",),
        scales: Sequence[str] = ("full", "partial", "lite"),
        others: Sequence[str] = (),
        across: bool = False,
        flaw: str = "",
        **arguments: Any,
    ) -> Finding:
        cells = [(m, a) for a in activations for m in models]
        flaws = [GRID, ALIKE] if len(activations) == 1 else [GRID]  # several are compared within one study
        every = {scale: trained(evidence, scale, cells, flaws) for scale in (*scales, *others)}
        found = {scale: sets for scale, sets in every.items() if sets}
        if not found or (across and len(found) < len(every)):
            wanted = next(scale for scale in every if scale not in found)
            there = evidence[(evidence["scale"] == wanted) & (evidence["flaw"] == GRID)]
            missing = ", ".join(" ".join(cell) for cell in cells if arms_of(there, [cell]).empty)
            since = _first([arms for arms, *_ in found.values()])
            return Finding("not run", f"waits for records of {missing} at {wanted} scale", since=since)
        if across:  # each model is named with its scale
            named = [arms.assign(model=arms["model"] + ", " + scale) for scale, (arms, *_) in found.items()]
            scales = [" and ".join(scales)]
            found = {scales[0]: [pd.concat(named)]}
        scale, read = next(iter(found.items()))
        arms, *again = read
        tried = False
        ours = Finding(*judge(arms, **arguments), basis=f"records at {scale} scale{_precision(arms)}")
        for other in again:
            verdict, said = judge(other, **arguments)
            if {ours.verdict, verdict} == {"replicated", "contradicted"}:
                said = f"two sets of our runs answer differently: {ours.ours}; trained again, {said}"
                ours = replace(ours, verdict="undecided", ours=said)
        for flawed in with_flaw(evidence, flaw, cells) if flaw else ():
            at, length = flawed[["scale", "iterations"]].iloc[0]
            if flaw in READ and at not in scales:
                continue
            read.append(flawed)
            verdict, said = judge(flawed, **arguments)
            if flaw in READ and length != arms["iterations"].iloc[0]:
                verdict = "contradicted"  # it explains nothing
            else:
                tried |= at in scales
            where = f", {at}, {LENGTHS.get(flaw, f'{length:.0f} iterations')}"
            ours = explained(ours, verdict, said, flaw, where)
        if flaw and not tried and scale in scales:
            ours = unexplained(ours, flaw)
        if scale not in scales and ours.verdict not in ("artefact", CAUSE_OPEN):
            said = f"the claim is of {' or '.join(scales)} scale; at this one it is {ours.verdict}: {ours.ours}"
            ours = replace(ours, verdict="not run", ours=said, lacks="records of its own scale")
        return replace(ours, since=_first(read))

    return rule


def _first(read: Sequence[pd.DataFrame]) -> str:
    """Date of the first record of these."""
    return min((date for arms in read for date in arms["date"].dropna()), default="")


def _precision(arms: pd.DataFrame) -> str:
    """In words, where it is not the usual one."""
    types = " and ".join(arms.reindex(columns=["dtype"])["dtype"].dropna().unique())
    return f" (trained in {types})" if "bfloat16" in types else ""


@of_records
def mean(arms: pd.DataFrame, published: Mapping[str, float]) -> Judged:
    """The published mean (metric -> value) of an arm could be a mean of ours; on different inputs a mean within
    ``SAME`` of it, and of a model with itself, takes the place of a narrow interval."""
    ((metric, value),) = published.items()
    ours = actlab.means(values(arms, metric), metric).set_index(ARM).iloc[0]
    share = value / 100 if metric == "val_accuracy" else 0.0
    noise = 100 * math.sqrt(share * (1 - share) / numbers.accuracy_positions / TRIALS)  # binomial error
    verdict, said, _ = compared(ours, Between(value, value), TRIALS, noise, logarithmic=metric not in SCORES)
    itself = arms.loc[arms["first"] == arms["second"], metric].mean()
    if not math.isnan(itself):
        near = max(abs(ours["estimate"] / value - 1), abs(itself / ours["estimate"] - 1)) <= SAME
        verdict = decided(near and verdict != "contradicted")
        said += f", of a model with itself {itself:.3f}"
    return verdict, f"{' '.join(arms[ARM].iloc[0])} {label(metric)} {said}"


@of_records
def identical(arms: pd.DataFrame) -> Judged:
    """In each model trials of one seed end with the same validation loss whatever the activation."""
    losses = values(arms, "val_loss").pivot(index=["model", "trial"], columns="activation", values="val_loss").dropna()
    gaps = (losses.max(axis=1) - losses.min(axis=1)).groupby("model").max().reindex(arms["model"].unique())
    said = ", ".join(f"{model} {gap:.2g}" for model, gap in gaps.items())
    between = ", ".join(arms["activation"].unique())
    said = f"largest difference of the validation loss of one seed between {between}: {said}"
    return decided((gaps < IDENTICAL).all()), said


def _dominance(means: Any, sizes: int = 2) -> float:
    """The variance between architectures, of their means over so many sizes, over that between sizes."""
    each = means.reshape(sizes, -1)  # those of the first size of all architectures, of the second, ...
    return float(each.mean(axis=0).var() / each.var(axis=0).mean())


def _ranges(means: Any, activations: int = 5) -> float:
    """The range in percent between architectures, of their means over so many activations, over the mean range between
    activations."""
    each = means.reshape(activations, -1)  # those of the first activation of all architectures, of the second, ...
    between, inside = (found.max(axis=0) / found.min(axis=0) - 1 for found in (each.mean(axis=0), each))
    return float(between / inside.mean())


FORMULAS: dict[str, Callable[[Any], Any]] = {
    "average": np.mean,
    "change": lambda means: 100 * (means[1] / means[0] - 1),
    "cv": lambda means: 100 * stats.variation(means),
    "difference_of_averages": lambda means: np.subtract(*means.reshape(2, -1).mean(axis=1)),
    "dominance of 2": _dominance,
    "percent_below": lambda means: 100 * (1 - means[0] / means[1]),
    "ranges over 5": _ranges,
    "ratio": lambda means: means[0] / means[1],
}
"""Name -> (A,) means of the arms, in their order -> a number."""
QUOTIENTS = ("dominance of 2", "ranges over 5", "ratio")
"""Formulas of which an interval that contains the published number and 1 too decides nothing. Their interval, and that
of cv, is on a log scale: none can be negative, and a noisy denominator makes them skew."""


@of_records
def number(
    arms: pd.DataFrame,
    what: str,
    of: str,
    metric: str,
    published: Sequence[float],
    trials: float = math.inf,
    reason: str = "",
) -> Judged:
    """A published number that is a function of several arms' means.

    Args:
        arms: whose means go into it, in their order.
        what: it is, in words.
        of: a key of ``FORMULAS``.
        metric: of the means.
        published: from, to.
        trials: an arm had, where the published number is noisy itself; else it is taken as it stands.
        reason: why no run stands behind the published number, or a part of it, which ours then cannot test.
    """
    ours, logarithmic = combined(arms, metric, FORMULAS[of]), of in (*QUOTIENTS, "cv")
    verdict, said, span = compared(ours, Between(*published), trials, logarithmic=logarithmic)
    if of in QUOTIENTS and verdict == "compatible" and span.low <= 1 <= span.high:
        verdict = "undecided"
    return ("no run behind it", f"{reason}; {what}: {said}") if reason else (verdict, f"{what}: {said}")


@of_records
def ordered(arms: pd.DataFrame, metric: str, sign: int, neighbours: bool = False) -> Judged:
    """The metric of the first model, or of the first activation of one model, minus that of each other has a sign.

    Args:
        arms: of one activation, or of one model.
        metric: that is compared.
        sign: 1: the first is the highest; -1: the lowest.
        neighbours: each is compared with the next, instead of the first with all.
    """
    of, by = sorted(ARM, key=lambda name: arms[name].nunique())
    each = [*values(arms, metric).groupby(by, sort=False)]
    sides = []
    for (first, one), (second, other) in pairwise(each) if neighbours else ((each[0], own) for own in each[1:]):
        pair = f"{first} minus {second}"
        sides += [one.assign(pair=pair, side="first"), other.assign(pair=pair, side="second")]
    found = actlab.contrasts(pd.concat(sides), metric, "pair", "side", "second")
    said = "; ".join(f"{e['pair']} {measured(e)}" for _, e in found.iterrows())
    verdict = decided((signs(found) == sign).all(), (signs(found) == -sign).any())
    return verdict, f"{label(metric)} of {arms[of].iloc[0]}: {said}"


def settings(
    rows: pd.DataFrame, what: str, says: str, every: str = "", among: Mapping[str, Sequence[Any]] | None = None
) -> Judged:
    """Whether recorded runs are as stated, and what they have, in words; another setting of ours says nothing against
    a stated one.

    Args:
        rows: whose columns, with ``arms`` (their number), are asked for.
        what: they are of, in words.
        says: what they have, with names of columns in braces.
        every: a condition that each run meets.
        among: column -> values all of which occur.
    """
    runs = rows[rows["seed"].notna()]
    runs = runs.assign(arms=runs["record"].nunique())
    fits = not every or runs.eval(every).all()
    fits = fits and all({*levels} <= {*runs[name]} for name, levels in (among or {}).items())
    levels = {name: ", ".join(map(plain, runs[name].unique())) for name in runs}
    said = f"recorded {what}: {says.format_map(levels)}"
    return ("followed", said) if fits else ("not run", f"run otherwise than stated: {said}")


def plain(value: object) -> str:
    """A setting's value for people."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


as_stated = of_records(settings)
"""Settings with which our language models were trained."""


def recorded(rows: pd.DataFrame, where: str = "", of_networks: bool = False, **stated: Any) -> Finding:
    """Settings that an image sweep or an ablation ran with, in the runs that meet a condition; ``of_networks``: what
    a network has, which was not chosen."""
    if where and (rows := rows.query(where)).empty:
        return Finding("not run", f"no record of {stated['what']}")
    verdict, said = settings(rows, **stated)
    if of_networks:
        verdict = "checks out" if verdict == "followed" else COUNTED
    return Finding(verdict, said)
