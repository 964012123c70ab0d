"""The ledger: every published claim with its verdict, from all records at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import pandas as pd

from actlab import factorial, store, sweep
from actlab.claims import Claim, Verdict, ablation, evidence, mnist, readme, report_findings, report_scale, report_summary
from actlab.claims.verdicts import KINDS, counted, in_words
from actlab.records.settings import usual

VERDICTS: tuple[str, ...] = get_args(Verdict)


@dataclass(frozen=True)
class Source:
    """A published text, what judges its claims, and the page with the evidence where a claim names none."""

    name: str
    claims: tuple[Claim, ...]
    evidence: Callable[[], Any]
    page: str


SOURCES = (
    Source("MNIST study", mnist.CLAIMS, lambda: sweep.read(store.load_study("mnist"), store.load_study("mnist-epochs")), "studies/mnist"),
    Source("Ablation study", ablation.CLAIMS, lambda: factorial.read(usual(store.load_study("ablation-novels"))), "studies/ablation"),
    Source("Language models, front page", readme.CLAIMS, evidence.gather, "studies/report"),
    Source(
        "Language models, report",
        (*report_summary.CLAIMS, *report_findings.CLAIMS, *report_scale.CLAIMS),
        evidence.gather,
        "studies/report",
    ),
)


def judge(sources: tuple[Source, ...] = SOURCES) -> pd.DataFrame:
    """One row a claim, by id: source, section, kind, claim, reported, ours, basis, verdict, defect, rule, page."""
    rows: dict[str, dict[str, str]] = {}
    for source in sources:
        found = source.evidence()
        rows |= {claim.id: _row(source, claim, found) for claim in source.claims}
    return pd.DataFrame.from_dict(rows, orient="index")


def _row(source: Source, claim: Claim, found: Any) -> dict[str, str]:
    finding = claim.test(found)
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
        "page": claim.page or source.page,
    }


def counts(judged: pd.DataFrame) -> pd.DataFrame:
    """Claims by verdict and source; verdicts in the order of their list."""
    table = pd.crosstab(judged["verdict"], judged["source"]).reindex(index=[v for v in VERDICTS if v in set(judged["verdict"])])
    table = table[list(dict.fromkeys(judged["source"]))]
    table.columns.name = None
    return table.assign(all=table.sum(axis=1))


def replicated(judged: pd.DataFrame) -> str:
    """What the replicated claims are, by the kind of their test: `` (2 settings that we ran as stated, 1 outcome of training)``."""
    number = judged.loc[judged["verdict"] == "replicated", "kind"].value_counts()
    return f" ({', '.join(f'{number[kind]} {words[int(number[kind] > 1)]}' for kind, words in KINDS.items() if kind in number)})"


def sentences(judged: pd.DataFrame) -> dict[str, str]:
    """Name -> sentence for the book's first page."""
    number = judged["verdict"].value_counts()
    parts = [counted(verdict, number[verdict]) + (replicated(judged) if verdict == "replicated" else "") for verdict in VERDICTS if verdict in number]
    defects = judged.loc[judged["verdict"] == "artefact", "defect"].value_counts()
    named = ", ".join(f"{in_words(str(defect))} ({count})" for defect, count in defects.items())
    return {
        "claims_counts": f"Of {len(judged)} published claims: {', '.join(parts)}",
        "claims_defects": f"The artefacts come out as published only with a flaw: {named}" if named else "No artefact has been reproduced yet",
    }
