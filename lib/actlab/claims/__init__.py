"""The claims of the reference studies and what our records say of them: every verdict is computed, none is typed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import pandas as pd

Verdict = Literal[
    "replicated",
    "compatible",
    "contradicted",
    "artefact",
    "arithmetic error",
    "self-contradiction",
    "not yet tested",
    "not testable",
]

Kind = Literal["setting", "count", "outcome"]
"""What a test looks at: whether a stated setting was run; what counting or the text's own arithmetic gives; what
training brought about.
"""


ITS_STUDY = "its study"


@dataclass(frozen=True)
class Finding:
    """What a test found: our value in words, and the verdict that follows from it."""

    verdict: Verdict
    ours: str
    basis: str = ""
    """What was judged: the scale of the records, or the text's own numbers."""
    defect: str = ""
    """With the verdict artefact: the flaw with which the claim comes out as published."""
    since: str = ""
    """Date of the first record that was read; empty where none was, ``ITS_STUDY`` where its whole study was."""


@dataclass(frozen=True)
class Claim:
    """One published claim. ``test`` takes what its study's records are read into."""

    id: str
    statement: str
    """In our words."""
    reported: str
    rule: str
    """How the verdict follows from the numbers, written before they were known."""
    test: Callable[[Any], Finding]
    section: str = ""
    """Of the published text."""
    page: str = ""
    """The page of the book that shows the evidence; empty: its source's page."""
    kind: Kind = "outcome"
    """Of the test."""


class Check(Protocol):
    """A test that brings its rule and the page of its evidence along."""

    @property
    def rule(self) -> str:
        """How the verdict follows from the numbers."""

    @property
    def page(self) -> str:
        """Of the book."""

    @property
    def kind(self) -> Kind:
        """What it looks at."""

    def __call__(self, evidence: Any) -> Finding:
        """Judge."""


def row(id: str, section: str, statement: str, reported: str, check: Check) -> Claim:
    """A claim whose rule, page and kind come from its test."""
    return Claim(id, statement, reported, check.rule, check, section, check.page, check.kind)


def judged(claims: tuple[Claim, ...], evidence: Any) -> pd.DataFrame:
    """One row a claim: the verdict, what was said, what we found. The verdict stands first, where a narrow screen
    shows it.
    """
    rows = {}
    for claim in claims:
        found = claim.test(evidence)
        rows[claim.id] = {
            "verdict": found.verdict,
            "claim": claim.statement,
            "reported": claim.reported,
            "ours": found.ours,
            "rule": claim.rule,
        }
    return pd.DataFrame.from_dict(rows, orient="index")


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """How many claims have each verdict."""
    return table["verdict"].value_counts().rename_axis("verdict").to_frame("claims")
