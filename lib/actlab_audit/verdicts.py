"""From numbers to a verdict: the words of the verdicts, and the only functions that give one."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

from actlab.records.labels import words

TEXT = "the text's own numbers"
"""The basis of a finding that needs no record."""
FILES = "the text's own numbers and its result files"
"""The same, where an input is in the result files and not in the text."""
CODE = "the text and its code"
"""The same, where one of two statements is what the project's code does."""
OPEN = ("excluded, cause open", "undecided", "not run")
"""Verdicts that more records can change: each says what it lacks."""
FLAW = "records of a published flaw that could give the number"
"""What a claim waits for that our numbers exclude and a flaw might give."""
WIDE = 0.1
"""An interval that reaches further than this share of its value to either side also accepts other numbers."""


@dataclass(frozen=True)
class Finding:
    """What a rule found: the verdict, and our value in words."""

    verdict: str
    """A key of ``meanings`` in claims.yaml."""
    ours: str
    basis: str = ""
    """What was judged: the scale of the records, or the text's own numbers."""
    defect: str = ""
    """With the verdict artefact: the flaw with which the claim comes out as published."""
    since: str = ""
    """Date of the first record that was read, where not all records of the source were."""
    lacks: str = ""
    """With a verdict of ``OPEN``: what would decide."""


Estimate: TypeAlias = pd.Series
"""``estimate``, or of two the ``difference``, ``low``, ``high`` (95% over runs; NaN: no interval), ``n`` runs: as
``actlab.means`` and ``actlab.contrasts`` give it."""


def measured(ours: Estimate, form: str = "") -> str:
    """``0.597 [0.590, 0.604], n = 3``; a fourth decimal below 0.02."""
    form = form or (".4f" if 0 < ours["estimate"] < 0.02 else ".3f")
    return f"{bracketed(ours, form)}, n = {ours['n']:.0f}"


def bracketed(ours: Estimate, form: str = "+.3f") -> str:
    """A difference with its sign: ``+0.080 [+0.065, +0.094]``."""
    value, low, high = ours.get("difference", ours["estimate"]), ours["low"], ours["high"]
    if math.isnan(value):
        return "no value"
    return f"{value:{form}} [{'no interval' if math.isnan(low) else f'{low:{form}}, {high:{form}}'}]"


def positive(ours: Estimate) -> Estimate:
    """Of what cannot be negative: the interval on a logarithmic scale, with the same standard error."""
    factor = math.exp((ours["high"] - ours["low"]) / 2 / ours["estimate"])
    return pd.Series({**ours, "low": ours["estimate"] / factor, "high": ours["estimate"] * factor})


def excludes(ours: Estimate, value: float) -> bool:
    """Whether a value lies outside the interval; False where there is none."""
    return bool(value < ours["low"] or value > ours["high"])


def absent(what: str) -> Finding:
    """No record, or too few, for a verdict."""
    return Finding("not run", what, lacks="records of its configurations")


Answer = bool | None | Literal["too wide"]
"""Whether our numbers bear a claim out; ``None``: their intervals leave it open; too wide: they contain the published
number and much else.
"""
Judged = tuple[Answer, str]
"""That, and our numbers in words."""


def decided(holds: Answer, ours: str, basis: str = "") -> Finding:
    """The verdict of records made as stated, where no flaw of the published work has to be thought of."""
    if holds is None:
        return Finding("undecided", f"left open: {ours}", basis, lacks="more trials")
    if holds == "too wide":
        return Finding("compatible", f"{ours}; the interval is too wide for a test", basis)
    return Finding("replicated" if holds else "contradicted", ours, basis)


def counted(holds: bool, ours: str, basis: str = "") -> Finding:
    """What counting or a computation of ours gives, where no training is needed."""
    return Finding("checks out" if holds else "contradicted", ours, basis)


OURS = {
    "replicated": "agree with it",
    "compatible": "agree with it",
    "contradicted": "differ from it",
    "undecided": "leave it open",
}
"""Verdict -> what our runs of another size do with a claim."""


def elsewhere(found: Finding, stated: str) -> Finding:
    """Records made at another scale than the claim's (``stated``): only an artefact stands."""
    if found.verdict not in OURS:
        return found
    ours = found.ours.removeprefix("left open: ")
    said = f"the claim is of {stated} scale; ours {OURS[found.verdict]}: {ours}"
    return replace(found, verdict="not run", ours=said, lacks="records of its own scale")


def unexplained(found: Finding, flaw: str) -> Finding:
    """A published number that ours exclude, and a flaw that could have given it and has no record at its scale: the
    cause is open."""
    if found.verdict == "excluded, cause open":  # shown elsewhere, and left open there
        return replace(found, lacks=FLAW)
    if found.verdict != "contradicted":
        return found
    said = f"{found.ours}; a flaw that could explain it has no record at this scale: {words(flaw)}"
    return replace(found, verdict="excluded, cause open", ours=said, lacks=FLAW)


def torn(ours: Finding, again: Finding) -> Finding:
    """Two sets of our runs of the same arms that answer differently leave a claim open."""
    if {ours.verdict, again.verdict} != {"replicated", "contradicted"}:
        return ours
    said = f"two sets of our runs answer differently: {ours.ours}; trained again, {again.ours}"
    return replace(ours, verdict="undecided", ours=said, lacks="more trials")


def ran(as_stated: bool, ours: str, basis: str = "") -> Finding:
    """Whether a stated setting is one that we ran; another setting of ours says nothing against it."""
    if as_stated:
        return Finding("followed", ours, basis)
    return Finding("not run", f"run otherwise than stated: {ours}", basis, lacks="a run as stated")


def explained(without: Finding, with_flaw: Finding, flaw: str, where: str = "") -> Finding:
    """A claim that fails without a flaw of the published work and comes out with it is an artefact of that flaw; where
    the flaw's interval is too wide to test it, or leaves it open, the cause stays open. ``where`` it was shown."""
    if without.verdict != "contradicted" or with_flaw.verdict == "contradicted":
        return without
    said = f"{without.ours}; with the flaw ({words(flaw)}{where}): {with_flaw.ours}"
    if with_flaw.verdict != "replicated":
        return replace(without, verdict="excluded, cause open", ours=said, lacks="more trials with the flaw")
    return replace(without, verdict="artefact", ours=said, defect=flaw)


@dataclass(frozen=True)
class Between:
    """A number as precisely as it was given: somewhere from ``low`` to ``high``."""

    low: float
    high: float

    def meets(self, other: Between) -> bool:
        """Whether one number could lie in both."""
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        ends = [f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}" for value in (self.low, self.high)]
        return " to ".join(dict.fromkeys(ends))


def expected(ours: Estimate, trials: float, extra: float = 0.0) -> Between:
    """Where a mean of ``trials`` further trials would lie (95%), given ours: the interval, wider by its own error.

    Args:
        ours: a mean over n trials with a t interval.
        trials: of the published mean.
        extra: standard error of the published value from its own measurement (accuracy at few positions, say).
    """
    half = math.hypot((ours["high"] - ours["low"]) / 2 * math.sqrt(1 + ours["n"] / trials), 1.96 * extra)
    return Between(ours["estimate"] - half, ours["estimate"] + half)


def expected_positive(ours: Estimate, trials: float) -> Between:
    """The same on a log scale, of what cannot be negative, as ``positive`` gives it."""
    found = expected(pd.Series({**ours, **np.log(ours[["estimate", "low", "high"]])}), trials)
    return Between(math.exp(found.low), math.exp(found.high))


def within(ours: Between, published: Between) -> Answer:
    """Whether our interval bears out a published number or range: it lies inside, or meets it and is narrow enough."""
    if math.isnan(ours.low):
        return None
    if not ours.meets(published):
        return False
    inside = published.low <= ours.low and ours.high <= published.high
    narrow = ours.high - ours.low <= WIDE * abs(ours.high + ours.low)
    return True if inside or narrow else "too wide"


def all_of(answers: Collection[Answer]) -> Answer:
    """The weakest: False before None before too wide; None where nothing was asked."""
    order: tuple[Answer, ...] = (False, None, "too wide", True)
    return next((answer for answer in order if answer in answers), None)


def signs(differences: pd.DataFrame) -> pd.Series:
    """The sign of each difference of ``actlab.contrasts`` that Holm's correction leaves significant, else 0."""
    return np.sign(differences["difference"]).where(differences["p_holm"] < 0.05, 0)


def by_signs(differences: pd.DataFrame, wanted: int) -> Answer:
    """Whether all differences have the wanted sign, significantly; one with the other sign refutes it."""
    found = {*signs(differences)}
    return False if -wanted in found else True if found == {wanted} else None
