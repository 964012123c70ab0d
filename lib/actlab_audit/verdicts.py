"""From numbers to a verdict: what a rule found, and the ranges by which numbers are compared."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from actlab.records.defect_names import LAST
from actlab.records.labels import words

CAUSE_OPEN, COUNTED = "differs, cause not shown", "counted otherwise"
LACKS = {
    "not run": "records of its configurations",
    "undecided": "more trials",
    CAUSE_OPEN: "more trials with the flaw",
}
"""Verdicts that more records can change -> what would decide, unless the finding says another thing."""
WIDE = 0.1
"""An interval that reaches further than this share of its value to either side also accepts other numbers."""
Judged = tuple[str, str]
"""A verdict, and our numbers in words."""


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
    """What would decide, where that is not what the verdict ``LACKS``."""


def decided(shown: bool, refuted: bool | None = None) -> str:
    """The verdict of records made as stated; ``refuted`` comes first, and is given where what is not shown may be left
    open."""
    if refuted or (refuted is None and not shown):
        return "contradicted"
    return "replicated" if shown else "undecided"


def explained(found: Finding, verdict: str, said: str, flaw: str, where: str = "") -> Finding:
    """A claim that fails without a flaw of the published work and comes out with it (``verdict``, our numbers with it,
    ``where`` they were made) is an artefact of that flaw; where the flaw's interval is too wide to test it, or leaves
    it open, the cause stays open."""
    if found.verdict != "contradicted":
        return found
    told = replace(found, ours=f"{found.ours}; with the flaw ({words(flaw)}{where}): {said}")
    if verdict == "replicated":
        return replace(told, verdict="artefact", defect=flaw)
    return told if verdict == "contradicted" else replace(told, verdict=CAUSE_OPEN)


def unexplained(found: Finding, flaw: str) -> Finding:
    """A flaw that could have given the published number has no record at its scale: where ours exclude the number, the
    cause is open; an accuracy of ours was not read where the published one was, and decides nothing."""
    if flaw == LAST:
        said = f"{found.ours}; the published one is another reading, of which no run at this scale has a record"
        return replace(found, verdict="undecided", ours=f"{said}: {words(flaw)}", lacks="records of that reading")
    if found.verdict not in ("contradicted", CAUSE_OPEN):
        return found
    said = f"{found.ours}; a flaw that could explain it has no record at this scale: {words(flaw)}"
    lacks = "records of a published flaw that could give the number"
    return replace(found, verdict=CAUSE_OPEN, ours=said, lacks=lacks)


def measured(ours: pd.Series, form: str = "") -> str:
    """``0.597 [0.590, 0.604], n = 3``, of an estimate or a difference of ``actlab.means`` and ``actlab.contrasts``; a
    fourth decimal below 0.02."""
    form = form or (".4f" if 0 < ours["estimate"] < 0.02 else ".3f")
    value, low, high = ours.get("difference", ours["estimate"]), ours["low"], ours["high"]
    interval = "no interval" if math.isnan(low) else f"{low:{form}}, {high:{form}}"
    said = "no value" if math.isnan(value) else f"{value:{form}} [{interval}]"
    return f"{said}, n = {ours['n']:.0f}"


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


def positive(ours: pd.Series) -> pd.Series:
    """Of what cannot be negative: the interval on a logarithmic scale, with the same standard error."""
    factor = math.exp((ours["high"] - ours["low"]) / 2 / ours["estimate"])
    return pd.Series({**ours, "low": ours["estimate"] / factor, "high": ours["estimate"] * factor})


def expected(ours: pd.Series, trials: float, extra: float = 0.0, logarithmic: bool = False) -> Between:
    """Where a mean of ``trials`` further trials would lie (95%), given ours: the interval, wider by its own error.

    Args:
        ours: a mean over n trials with a t interval.
        trials: of the published mean.
        extra: standard error of the published value from its own measurement (accuracy at few positions, say).
        logarithmic: the interval is symmetric on this scale, as ``positive`` gives it.
    """
    low, middle, high = np.log(ours[["low", "estimate", "high"]]) if logarithmic else ours[["low", "estimate", "high"]]
    half = math.hypot((high - low) / 2 * math.sqrt(1 + ours["n"] / trials), 1.96 * extra)
    ends = middle - half, middle + half
    return Between(*map(math.exp, ends)) if logarithmic else Between(*ends)


def within(ours: Between, published: Between) -> str:
    """Whether our interval bears out a published number or range: it lies inside, or meets it and is narrow enough;
    compatible: it contains the published number and much else."""
    if math.isnan(ours.low):
        return "undecided"
    if not ours.meets(published):
        return "contradicted"
    inside = published.low <= ours.low and ours.high <= published.high
    narrow = ours.high - ours.low <= WIDE * abs(ours.high + ours.low)
    return "replicated" if inside or narrow else "compatible"


def compared(
    ours: pd.Series, published: Between, trials: float, noise: float = 0.0, logarithmic: bool = False
) -> tuple[str, str, Between]:
    """The verdict on a published number of so many trials, ours in words, and where a further one would lie: as of
    ``expected``."""
    if logarithmic:
        ours = positive(ours)
    span, said = expected(ours, trials, noise, logarithmic), measured(ours)
    if trials < math.inf:
        said += f" (of {trials} trials it would lie from {span.low:.3f} to {span.high:.3f})"
    return within(span, published), said, span


def signs(differences: pd.DataFrame) -> pd.Series:
    """The sign of each difference of ``actlab.contrasts`` that Holm's correction leaves significant, else 0."""
    return np.sign(differences["difference"]).where(differences["p_holm"] < 0.05, 0)
