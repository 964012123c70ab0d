"""From numbers to a verdict: the only rules by which a row of the ledger gets one. The modules of rows hold no
verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from actlab.claims import Finding
from actlab.statistics.estimate import Estimate
from actlab.statistics.tests import holm

TEXT = "the text's own numbers"
"""The basis of a finding that needs no record."""
FILES = "the text's own numbers and its result files"
"""The same, where an input is in the result files and not in the text."""


def absent(what: str) -> Finding:
    """No record, or too few, for a verdict."""
    return Finding("not yet tested", what)


Answer = bool | None | Literal["too wide"]
"""Whether our numbers bear a claim out; ``None``: their intervals leave it open; too wide: they contain the published
number and much else.
"""
WIDE = 0.1
"""An interval that reaches further than this share of its value to either side also accepts what the ledger calls
another number (``about``).
"""


def decided(holds: Answer, ours: str, basis: str) -> Finding:
    """The verdict of records made as stated, where no flaw of the published work has to be thought of."""
    if holds is None:
        return Finding("not yet tested", f"left open by this many trials: {ours}", basis)
    if holds == "too wide":
        return Finding("compatible", f"{ours}; the interval is too wide for a test", basis)
    return Finding("replicated" if holds else "contradicted", ours, basis)


def elsewhere(found: Finding, stated: str) -> Finding:
    """Records made at another scale than the claim's (``stated``): outcomes there say nothing for it or against it,
    as with settings.
    """
    if found.verdict not in ("replicated", "compatible", "contradicted"):
        return found
    would = "agree with" if found.verdict != "contradicted" else "differ from"
    return replace(
        found, verdict="not yet tested", ours=f"the claim is of {stated} scale; ours {would} it: {found.ours}"
    )


def unexplained(found: Finding, flaw: str) -> Finding:
    """A published number that ours exclude, and a known flaw that could have given it and has no record at that
    setting: not yet tested.
    """
    if found.verdict != "contradicted" or not flaw:
        return found
    return replace(
        found,
        verdict="not yet tested",
        ours=f"{found.ours}; a flaw that could explain it has no record: {in_words(flaw)}",
    )


def ran(as_stated: bool, ours: str, basis: str) -> Finding:
    """Whether a stated setting is one that we ran; another setting of ours says nothing against it."""
    return (
        Finding("replicated", ours, basis)
        if as_stated
        else Finding("not yet tested", f"run otherwise than stated: {ours}", basis)
    )


def explained(without: Finding, with_defect: Finding, defect: str) -> Finding:
    """A claim that fails when the work is done correctly, and comes out when a flaw is switched on, is an artefact of
    that flaw.
    """
    if without.verdict != "contradicted" or with_defect.verdict != "replicated":
        return without
    return replace(
        without,
        verdict="artefact",
        ours=f"{without.ours}; with the flaw ({in_words(defect)}): {with_defect.ours}",
        defect=defect,
    )


@dataclass(frozen=True)
class Between:
    """A published number as precisely as it was given: somewhere from ``low`` to ``high``."""

    low: float
    high: float

    def meets(self, other: Between) -> bool:
        """Whether one number could lie in both."""
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        ends = [f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}" for value in (self.low, self.high)]
        return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def exactly(value: float) -> Between:
    """A number that was not rounded."""
    return Between(value, value)


def rounded(value: float, digits: int) -> Between:
    """A number printed with so many decimals; the last one may have been rounded either way, but not truncated."""
    half = 0.5 * 10**-digits * (1 + 1e-9)
    return Between(value - half, value + half)


def about(value: float, share: float = 0.1) -> Between:
    """A number given as approximate: within 10%."""
    return Between(value * (1 - share), value * (1 + share))


def recomputed(stated: Between, ours: Between, said: str) -> Finding:
    """A stated result against what the numbers it comes from give."""
    return Finding("replicated" if stated.meets(ours) else "arithmetic error", said, TEXT)


def conflicting(agree: bool, said: str) -> Finding:
    """Two statements of one source about one thing."""
    return Finding("replicated" if agree else "self-contradiction", said, TEXT)


def untestable(reason: str) -> Finding:
    """What neither text, code nor a training run can show."""
    return Finding("not testable", reason)


def expected(ours: Estimate, trials: int, extra: float = 0.0) -> Between:
    """Where a mean of ``trials`` further trials would lie (95%), given ours: the interval, wider by its own error.

    Args:
        ours: a mean over n trials with a t interval.
        trials: of the published mean.
        extra: standard error of the published value from its own measurement (accuracy at few positions, say).
    """
    half = math.hypot((ours.high - ours.low) / 2 * math.sqrt(1 + ours.n / trials), 1.96 * extra)
    return Between(ours.value - half, ours.value + half)


def agrees(published: float, ours: Estimate, trials: int = 3, extra: float = 0.0) -> Answer:
    """Whether a published mean could be one of ours; ``None`` where we have no interval."""
    return within(expected(ours, trials, extra), Between(published, published))


def within(ours: Between, published: Between) -> Answer:
    """Whether our interval bears out a published number (or range): it lies inside the range, or meets it and is
    narrow enough to test it.
    """
    if math.isnan(ours.low):
        return None
    if not ours.meets(published):
        return False
    inside = published.low <= ours.low and ours.high <= published.high
    narrow = ours.high - ours.low <= WIDE * abs(ours.high + ours.low)
    return True if inside or narrow else "too wide"


def all_of(answers: list[Answer]) -> Answer:
    """False where one is False, else None where one is open, else too wide where one is."""
    return (
        False
        if False in answers
        else None
        if None in answers or not answers
        else "too wide"
        if "too wide" in answers
        else True
    )


def signs(differences: list[Estimate], alpha: float = 0.05) -> list[int]:
    """-1, 0 or 1 for each difference: its sign where Holm's correction over all of them leaves it significant, else
    0.
    """
    adjusted = holm([d.p_value() for d in differences])
    return [int(math.copysign(1, d.value)) if p < alpha else 0 for d, p in zip(differences, adjusted, strict=True)]


MEANINGS = {
    "replicated": "our numbers, or the text's own, bear it out",
    "compatible": (
        "our interval contains the published number, but is too wide to test it: it reaches further than 10% "
        "to either side of its middle"
    ),
    "contradicted": (
        "our numbers exclude it: a count or a computation, or records made as the claim states, at its scale; "
        "and no known flaw of the published work that could have given a published number is left untried"
    ),
    "artefact": (
        "it fails without a flaw of the published work, which is named, and with the flaw it comes out as "
        "published; shown at the scale that is named, which may be smaller than the claim's"
    ),
    "arithmetic error": "it does not follow from the numbers that it was computed from",
    "self-contradiction": "the same study says otherwise elsewhere",
    "not yet tested": (
        "the records that would decide are missing, too few, or made otherwise than stated; or ours exclude a "
        "published number, and a flaw that could explain it has no record"
    ),
    "not testable": "nothing that could be run or computed here decides it",
}

FLAWS = {
    "activation: ignored": "the activation ignored",
    "padding: both": "convolutions padded on both sides",
    "pairing: unpaired": "predictions on different inputs",
    "selection: final": "the last step instead of the best",
    "gated_width: doubled": "gated layers with more parameters",
}
"""Switch of a protocol -> the flaw in words."""


def in_words(flaw: str) -> str:
    """A flaw in words; one that is no switch is named in words already."""
    return FLAWS.get(flaw, flaw)


KINDS = {
    "setting": ("setting that we ran as stated", "settings that we ran as stated"),
    "count": ("count or piece of arithmetic", "counts or arithmetic"),
    "outcome": ("outcome of training", "outcomes of training"),
}
"""Kind of test -> what one and what several replicated claims of it are."""
PLURALS = {
    "artefact": "artefacts",
    "arithmetic error": "arithmetic errors",
    "self-contradiction": "self-contradictions",
}
"""Verdicts that are nouns."""


def counted(verdict: str, number: int) -> str:
    """``1 artefact``, ``2 artefacts``, ``2 replicated``."""
    return f"{number} {verdict if number == 1 else PLURALS.get(verdict, verdict)}"
