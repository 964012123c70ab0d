"""The ledger: every published claim with its verdict, from all records at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, get_args

import pandas as pd

from actlab.claims import (
    ITS_STUDY,
    Claim,
    Verdict,
    ablation,
    dates,
    evidence,
    mnist,
    readme,
    report_findings,
    report_scale,
    report_summary,
)
from actlab.claims.verdicts import KINDS, counted, in_words
from actlab.records import ablation as ablation_records
from actlab.records import mnist as mnist_records
from actlab.records import store
from actlab.records.settings import usual

VERDICTS: tuple[str, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Source:
    """A published text, what judges its claims, and the page with the evidence where a claim names none."""

    name: str
    claims: tuple[Claim, ...]
    evidence: Callable[[], Any]
    page: str
    studies: tuple[str, ...] = ()
    """Whose records its claims read as a whole."""


SOURCES = (
    Source(
        "MNIST study",
        mnist.CLAIMS,
        lambda: mnist_records.read(store.load_study("mnist"), store.load_study("mnist-epochs")),
        "studies/mnist",
        ("mnist",),
    ),
    Source(
        "Ablation study",
        ablation.CLAIMS,
        lambda: ablation_records.read(usual(store.load_study("ablation-novels"))),
        "studies/ablation",
        ("ablation-novels",),
    ),
    Source("Language models, front page", readme.CLAIMS, evidence.gather, "studies/report"),
    Source(
        "Language models, report",
        (*report_summary.CLAIMS, *report_findings.CLAIMS, *report_scale.CLAIMS),
        evidence.gather,
        "studies/report",
    ),
)


TWINS: tuple[tuple[str, ...], ...] = (
    ("R02", "R56", "T93"),
    ("R05", "R23", "T42"),
    ("R09", "R57"),
    ("R11", "T71"),
    ("R25", "T77"),
    ("R31", "T95"),
    ("R60", "R61"),
    ("T07", "T64"),
    ("T10", "T80"),
    ("T11", "T26"),
    ("T12", "T22"),
    ("T14", "T74"),
    ("T18", "T87"),
    ("T20", "T21", "T53", "T78", "T84"),
    ("T28", "T36"),
    ("T40", "T41", "T83"),
    ("T52", "T55"),
)
"""Claims that say one thing in several places, in other words or by another number of the same runs: each group has
one verdict.
"""


def twins_of(id: str) -> tuple[str, ...]:
    """The other claims that say the same."""
    return tuple(other for group in TWINS if id in group for other in group if other != id)


def apart(judged: pd.DataFrame) -> list[tuple[str, ...]]:
    """The groups of twins whose verdicts differ: none, if the rules are in order."""
    return [group for group in TWINS if len(set(judged["verdict"].reindex(list(group)).dropna())) > 1]


def judge(sources: tuple[Source, ...] = SOURCES) -> pd.DataFrame:
    """One row a claim, by id.

    Columns: source, section, kind, claim, reported, ours, basis, verdict, defect, rule, changed, twins, page.
    """
    rows: dict[str, dict[str, str]] = {}
    for source in sources:
        found = source.evidence()
        first = evidence.since(record for study in source.studies for record in store.load_study(study))
        rows |= {claim.id: _row(source, claim, found, first) for claim in source.claims}
    return pd.DataFrame.from_dict(rows, orient="index")


def _row(source: Source, claim: Claim, found: Any, first: str) -> dict[str, str]:
    finding = claim.test(found)
    since = first if finding.since == ITS_STUDY else finding.since
    return {
        "source": source.name,
        "section": claim.section,
        "kind": claim.kind,
        "claim": claim.statement,
        "reported": claim.reported,
        "ours": finding.ours,
        "basis": finding.basis,
        "verdict": finding.verdict,
        "defect": finding.defect,
        "rule": claim.rule,
        "changed": dates.told(dates.changed().get(claim.id, ""), since, finding.verdict),
        "twins": ", ".join(twins_of(claim.id)),
        "page": claim.page or source.page,
    }


def counts(judged: pd.DataFrame) -> pd.DataFrame:
    """Claims by verdict and source; verdicts in the order of their list."""
    table = pd.crosstab(judged["verdict"], judged["source"]).reindex(
        index=[v for v in VERDICTS if v in set(judged["verdict"])]
    )
    table = table[list(dict.fromkeys(judged["source"]))]
    table.columns.name = None
    return table.assign(all=table.sum(axis=1))


def replicated(judged: pd.DataFrame) -> str:
    """What the replicated claims are, by the kind of their test: `` (2 settings that we ran as stated, 1 outcome)``."""
    number = judged.loc[judged["verdict"] == "replicated", "kind"].value_counts()
    parts = [f"{number[kind]} {words[int(number[kind] > 1)]}" for kind, words in KINDS.items() if kind in number]
    return f" ({', '.join(parts)})"


def changed_when(told: Iterable[str]) -> str:
    """How many rules were last changed when their records were there: those could have been drawn to fit."""
    lines = list(told)
    after, before = (sum(word in line for line in lines) for word in (" after its ", " before "))
    unknown = sum(line.endswith("unknown") for line in lines)
    parts = [f"{after} rules were last changed after the first of their records was made, {before} before it"]
    parts += [f"{unknown} at an unknown time"] if unknown else []
    rest, day = len(lines) - after - before - unknown, dates.changed().get(dates.SHARED, "")[:10]
    common = f"What all rows share last changed {f'on {day}' if day else 'at an unknown time'}"
    return f"{', '.join(parts)}; the other {rest} need no record. {common}"


def sentences(judged: pd.DataFrame) -> dict[str, str]:
    """Name -> sentence for the book's first page."""
    number = judged["verdict"].value_counts()
    parts = [
        counted(verdict, number[verdict]) + (replicated(judged) if verdict == "replicated" else "")
        for verdict in VERDICTS
        if verdict in number
    ]
    defects = judged.loc[judged["verdict"] == "artefact", "defect"].value_counts()
    named = ", ".join(f"{in_words(str(defect))} ({count})" for defect, count in defects.items())
    only = f"The artefacts come out as published only with a flaw: {named}"
    return {
        "claims_counts": f"Of {len(judged)} published claims: {', '.join(parts)}",
        "claims_defects": only if named else "No artefact has been reproduced yet",
        "claims_rules": changed_when(judged["changed"]),
    }
