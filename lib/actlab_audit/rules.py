"""General rules that read records: a published mean, a number made of means, equal losses, settings as stated.

A row of ``claims.yaml`` names one and gives its arguments; rules that serve one claim stand in files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import actlab
from actlab.records.labels import METRICS, words
from actlab_audit import numbers
from actlab_audit.evidence import (
    ARM,
    GRID,
    LENGTHS,
    READ,
    SCORES,
    Cell,
    arms_of,
    at_scale,
    combined,
    means,
    trained_again,
    values,
    with_flaw,
)
from actlab_audit.verdicts import (
    Answer,
    Between,
    Finding,
    Judged,
    absent,
    all_of,
    by_signs,
    counted,
    decided,
    elsewhere,
    expected,
    expected_positive,
    explained,
    measured,
    positive,
    ran,
    torn,
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
    """A rule from ``judge(arms, **arguments)``, which is given the rows of some models with some activations.

    The rule's own arguments:
        models, activations: of the arms, which stand in this order, all models of one activation together.
        scales: at which the arms are looked for; the first that has them all is judged, or ``across`` all of them.
        claimed: the claim's own scales, where those are not ``scales``: they come first, and only their records decide.
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
        activations: Sequence[str] = RELU,
        scales: Sequence[str] = ANY,
        across: bool = False,
        claimed: Sequence[str] = (),
        flaw: str = "",
        **arguments: Any,
    ) -> Finding:
        cells = [(m, a) for a in activations for m in models]
        scales = list(dict.fromkeys([*claimed, *scales]))
        fuller = len(activations) == 1  # several are compared within one study
        every = {scale: arms_of(at_scale(evidence, scale, fuller), cells) for scale in scales}
        found = {scale: arms for scale, arms in every.items() if arms is not None}
        if len(found) < (len(scales) if across else 1):
            each = [[scale] for scale in scales if scale not in found] if across else [scales]
            waits = (f"{_missing(evidence, cells, of)} at {' or '.join(of)} scale" for of in each)
            dates = pd.concat([arms["date"] for arms in found.values()]) if found else pd.Series([""])
            return replace(absent(f"waits for records of {' and '.join(waits)}"), since=dates.dropna().min())
        if across:  # each model is named with its scale
            named = [arms.assign(model=arms["model"] + ", " + scale) for scale, arms in found.items()]
            found = {" and ".join(scales): pd.concat(named)}
        scale, arms = next(iter(found.items()))
        ours = conclude(*judge(arms, **arguments), f"records at {scale} scale{_precision(arms)}")
        stated, dates, tried = claimed or [scale], [arms["date"]], False
        if fuller and (again := trained_again(evidence, arms)) is not None:
            ours = torn(ours, conclude(*judge(again, **arguments)))
            dates.append(again["date"])
        for flawed in with_flaw(evidence, flaw, cells):
            at, length = flawed[["scale", "iterations"]].iloc[0]
            if flaw in READ and at not in stated:
                continue
            dates.append(flawed["date"])
            with_it = conclude(*judge(flawed, **arguments))
            where = f", {at}, {LENGTHS.get(flaw, f'{length:.0f} iterations')}"
            if flaw not in READ or length == arms["iterations"].iloc[0]:
                tried |= at in stated
                ours = explained(ours, with_it, flaw, where)
            if ours.verdict == "contradicted":
                ours = replace(ours, ours=f"{ours.ours} (with {words(flaw)}{where}: {with_it.ours})")
        if scale not in stated:
            ours = elsewhere(ours, " or ".join(stated))
        elif flaw and not tried:
            ours = unexplained(ours, flaw)
        return replace(ours, since=pd.concat(dates).dropna().min())

    return rule


def _precision(arms: pd.DataFrame) -> str:
    """In words, where it is not the usual one."""
    each = arms.reindex(columns=["scale", "dtype"]).value_counts(sort=False)
    said = ", ".join(map(" trained in ".join, each.index))
    return f" ({said})" if "bfloat16" in said else ""


def _missing(evidence: pd.DataFrame, cells: Sequence[Cell], scales: Sequence[str]) -> str:
    there = evidence[(evidence["flaw"] == GRID) & evidence["scale"].isin(scales)]
    recorded = {*there[ARM].itertuples(index=False, name=None)}
    missing = [" ".join(cell) for cell in sorted({*cells} - recorded or cells)]
    return ", ".join(missing[:3]) + (f" and {len(missing) - 3} more arms" if len(missing) > 3 else "")


@of_records
def mean(arms: pd.DataFrame, published: Mapping[str, float], trials: int = 3) -> Judged:
    """The published means (metric -> value) of a model, the same for all ``activations``, could be means of ours; on
    different inputs a mean within ``SAME`` of it, and of a model with itself, takes the place of a narrow interval."""
    answers, said = [], []
    for activation, own in arms.groupby("activation", sort=False):
        for metric, value in published.items():
            ours, share = means(own, metric).iloc[0], value / 100 if metric == "val_accuracy" else 0.0
            extra = 100 * math.sqrt(share * (1 - share) / numbers.accuracy_positions / trials)  # binomial error
            ours = ours if metric in SCORES else positive(ours)
            room = expected(ours, trials, extra) if metric in SCORES else expected_positive(ours, trials)
            answers.append(within(room, Between(value, value)))
            said.append(f"{activation} {label(metric)} {measured(ours)}")
            said[-1] += f" (a mean of {trials} would lie from {room.low:.3f} to {room.high:.3f})"
            itself = own[own["first"] == own["second"]][metric].mean()
            if not math.isnan(itself):
                near = alike(ours["estimate"], value) and alike(itself, ours["estimate"])
                answers[-1] = near and answers[-1] is not False
                said[-1] += f", of a model with itself {itself:.3f}"
    return all_of(answers), f"{arms['model'].iloc[0]} {'; '.join(said)}"


@of_records
def identical(arms: pd.DataFrame) -> Judged:
    """In each model trials of one seed end with the same validation loss whatever the activation."""
    losses = values(arms, "val_loss").set_index(["model", "trial", "activation"])["val_loss"].unstack().dropna()
    gaps = np.ptp(losses, axis=1).groupby("model").max().reindex(arms["model"].unique())
    said = ", ".join(f"{model} {gap:.2g}" for model, gap in gaps.items())
    between = ", ".join(arms["activation"].unique())
    said = f"largest difference of the validation loss of one seed between {between}: {said}"
    return bool((gaps < IDENTICAL).all()), said


def _dominance(of: int, means: Any) -> float:
    """The variance between architectures, of their means over so many sizes, over that between sizes."""
    each = means.reshape(of, -1)  # those of the first size of all architectures, of the second, ...
    return float(each.mean(axis=0).var() / each.var(axis=0).mean())


def _range_in_percent(means: Any) -> Any:
    """The highest over the lowest of each column, less one."""
    return means.max(axis=0) / means.min(axis=0) - 1


def _ranges(of: int, means: Any) -> float:
    """The range in percent between architectures, of their means over so many activations, over the mean range between
    activations."""
    each = means.reshape(of, -1)  # those of the first activation of all architectures, of the second, ...
    return float(_range_in_percent(each.mean(axis=0)) / _range_in_percent(each).mean())


FORMULAS: dict[str, Callable[[Any], Any]] = {
    "average": np.mean,
    "change": lambda means: 100 * (means[1] / means[0] - 1),
    "cv": lambda means: 100 * stats.variation(means),
    "difference_of_averages": lambda means: np.subtract(*means.reshape(2, -1).mean(axis=1)),
    "dominance of 2": partial(_dominance, 2),
    "percent_below": lambda means: 100 * (1 - means[0] / means[1]),
    "range": np.ptp,
    "ranges over 5": partial(_ranges, 5),
    "ratio": lambda means: means[0] / means[1],
}
"""Name -> (A,) means of the arms, in their order -> a number."""
QUOTIENTS = ("dominance of 2", "ranges over 5", "ratio")
"""Formulas of which an interval that contains the published number and 1 too decides nothing."""
POSITIVE = (*QUOTIENTS, "cv")
"""Formulas whose interval is on a log scale: none can be negative, and a noisy denominator makes them skew."""


def _number(arms: pd.DataFrame, what: str, of: str, metric: str, published: Sequence[float], trials: int = 0) -> Judged:
    """A published number that is a function of several arms' means.

    Args:
        arms: whose means go into it, in their order.
        what: it is, in words.
        of: a key of ``FORMULAS``.
        metric: of the means.
        published: from, to.
        trials: an arm had, where the published number is noisy itself; 0: it is taken as it stands.
    """
    ours = combined(arms, metric, FORMULAS[of])
    if of in POSITIVE:
        ours = positive(ours)
    span = (expected_positive if of in POSITIVE else expected)(ours, trials or math.inf)
    said = measured(ours.clip(lower=0) if of == "range" else ours, ".2f" if trials else "")  # no range is below 0
    said += f" ({trials} trials each: {span.low:.1f} to {span.high:.1f})" if trials else ""
    answer = within(span, Between(*published))
    undecided = of in QUOTIENTS and answer == "too wide" and span.low <= 1 <= span.high
    return None if undecided else answer, f"{what}: {said}"


number = of_records(_number)


def _unrun(answer: Answer, ours: str, basis: str = "") -> Finding:
    """Whatever our number is."""
    return Finding("no run behind it", ours, basis)


@partial(of_records, conclude=_unrun)
def number_without_run(arms: pd.DataFrame, reason: str, **arguments: Any) -> Judged:
    """A published number of which a part came from no run, for a ``reason``; ours, as ``number`` has it, beside it."""
    answer, said = _number(arms, **arguments)
    return answer, f"{reason}; {said}"


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
    first, *others = each = [own for _, own in values(arms, metric).groupby(by, sort=False)]
    pairs = pairwise(each) if neighbours else ((first, other) for other in others)
    sides = [
        own.assign(side=side, pair=f"{a[by].iloc[0]} minus {b[by].iloc[0]}")
        for a, b in pairs
        for side, own in (("first", a), ("second", b))
    ]
    found = actlab.contrasts(pd.concat(sides), metric, "pair", "side", "second")
    said = "; ".join(f"{e['pair']} {measured(e)}" for _, e in found.iterrows())
    return by_signs(found, sign), f"{label(metric)} of {arms[of].iloc[0]}: {said}"


def _as(
    rows: pd.DataFrame, what: str, says: str, every: str = "", among: Mapping[str, Sequence[Any]] | None = None
) -> tuple[bool, str]:
    """Whether recorded runs are as stated, and what they have, in words.

    Args:
        rows: whose columns, with ``arms`` (their number) and ``trials`` (of each arm), are asked for.
        what: they are of, in words.
        says: what they have, with names of columns in braces.
        every: a condition that each run meets.
        among: column -> values all of which occur.
    """
    runs = rows[rows["seed"].notna()]
    arms = runs["record"].value_counts()
    runs = runs.assign(arms=len(arms), trials=runs["record"].map(arms))
    fits = not every or runs.eval(every).all()
    fits = fits and all({*levels} <= {*runs[name]} for name, levels in (among or {}).items())
    levels = {name: runs[name].unique().tolist() for name in runs if f"{{{name}}}" in says}
    return bool(
        fits
    ), f"recorded {what}: {says.format(**{name: ', '.join(map(plain, of)) for name, of in levels.items()})}"


def plain(value: object) -> str:
    """A setting's value for people."""
    return f"{value:.12g}" if isinstance(value, float) else str(value)


@partial(of_records, conclude=ran)
def as_stated(arms: pd.DataFrame, **stated: Any) -> Judged:
    """Settings with which our language models were trained."""
    return _as(arms, **stated)


def recorded(rows: pd.DataFrame, where: str = "", of_networks: bool = False, **stated: Any) -> Finding:
    """Settings that an image sweep or an ablation ran with, in the runs that meet a condition; ``of_networks``: what
    a network has, which was not chosen."""
    if where and (rows := rows.query(where)).empty:
        return absent(f"no record of {stated['what']}")
    return (counted if of_networks else ran)(*_as(rows, **stated))
