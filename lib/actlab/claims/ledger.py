"""The ledger: every published claim (``claims.yaml``) with its verdict, from all records at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import yaml
from pydantic import BaseModel, ConfigDict, Field

from actlab.claims import dates
from actlab.claims.evidence import gather, since
from actlab.claims.special import ablation, mnist
from actlab.claims.verdicts import VERDICTS, Finding, absent, in_words
from actlab.errors import BadInput
from actlab.records import ablation as ablation_records
from actlab.records import mnist as mnist_records
from actlab.records import store
from actlab.records.settings import usual

FILE = Path(__file__).with_name("claims.yaml")
KINDS = {
    "setting": ("setting that we ran as stated", "settings that we ran as stated"),
    "count": ("count or piece of arithmetic", "counts or arithmetic"),
    "outcome": ("outcome of training", "outcomes of training"),
}
"""Kind of rule -> what one and what several replicated claims of it are."""
NOUNS = ("artefact", "arithmetic error", "self-contradiction")
"""Verdicts that have a plural."""
COLUMNS = ["source", "section", "kind", "claim", "reported", "ours", "basis", "verdict", "defect", "rule"]
COLUMNS += ["changed", "twins", "page"]
SHORT = ["verdict", "claim", "reported", "ours", "rule"]
"""Columns for a study's own page; the verdict first, where a narrow screen shows it."""


class Claim(BaseModel):
    """One published claim: a row of ``claims.yaml`` with what its rule and its source give by default."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: str
    source: str
    reads: str
    """A key of ``READERS``."""
    section: str
    """Of the published text."""
    claim: str
    """In our words."""
    reported: str
    rule: str
    """``module.function`` of this folder, or of ``special/``."""
    arguments: dict[str, Any] = Field({}, alias="with")
    why: str
    """How the verdict follows from the numbers, written before they were known."""
    page: str
    """Of the book, with the evidence."""
    kind: Literal["setting", "count", "outcome"] = "outcome"
    """Whether a stated setting was run; what counting or the text's arithmetic gives; what training brought about."""
    without_records: bool = False
    """Of a rule that reads none, where its source's others do."""

    @property
    def function(self) -> Callable[..., Finding]:
        """That the rule names."""
        module, name = self.rule.split(".")
        folder = "" if module in ("rules", "text_rules") else "special."
        found: Callable[..., Finding] = getattr(import_module(f"actlab.claims.{folder}{module}"), name)
        return found

    @property
    def full_rule(self) -> str:
        """Why, with what the arguments say of scales and of flaws that have no record."""
        return self.why + "".join(
            CLAUSES[name].format(" or ".join(value) if isinstance(value, list) else in_words(value))
            for name, value in self.arguments.items()
            if name in CLAUSES
        )


CLAUSES = {
    "claimed": "; only records of {} scale decide",
    "unmade": "; only {} records decide, which no study here makes: until one does, this row cannot change",
    "untried": "; not contradicted while a flaw that could give it has no record ({})",
}
"""Argument of a rule -> what it adds to the rule in words."""
READERS: dict[str, Callable[[], Any]] = {
    "mnist": lambda: mnist_records.read(store.load_study("mnist"), store.load_study("mnist-epochs")),
    "ablation": lambda: ablation_records.read(usual(store.load_study("ablation-novels"))),
    "models": gather,
}
WHOLE: dict[str, tuple[str, Callable[[Any], str]]] = {
    "mnist": ("mnist", mnist.lacks),
    "ablation": ("ablation-novels", ablation.lacks),
}
"""What is read as a whole -> its study, and what it lacks for any verdict (empty: nothing)."""


@cache
def _file() -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(FILE.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    return found


@cache
def claims() -> tuple[Claim, ...]:
    """Every row, in the order of the file.

    Raises:
        BadInput: an id that is there twice.
        ValidationError: a row without rule or reason, or with a key that is none.
    """
    rows = []
    for source in _file()["sources"]:
        given = {key: value for key, value in source.items() if key != "claims"}
        rows += [Claim(**given | _file()["rules"].get(row.get("rule"), {}) | row) for row in source["claims"]]
    if twice := [id for id, number in Counter(row.id for row in rows).items() if number > 1]:
        raise BadInput(f"{FILE}: ids that are there twice: {', '.join(twice)}")
    return tuple(rows)


def judge(evidence: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """One row a claim, by id; columns ``COLUMNS``.

    Args:
        evidence: a key of ``READERS`` -> what it would read; only claims on these are judged. All, unless given.
    """
    found = evidence if evidence is not None else {name: read() for name, read in READERS.items()}
    first = {name: since(store.load_study(study)) for name, (study, _) in WHOLE.items() if name in found}
    rows = {
        claim.id: _row(claim, found[claim.reads], first.get(claim.reads, ""))
        for claim in claims()
        if claim.reads in found
    }
    return pd.DataFrame.from_dict(rows, orient="index")[COLUMNS]


def _row(claim: Claim, evidence: Any, first: str) -> dict[str, Any]:
    found = finding(claim, evidence, first)
    same = {other for group in twins() if claim.id in group for other in group if other != claim.id}
    told = dates.told(changed().get(claim.id, ""), found.since, found.verdict)
    return (
        claim.model_dump() | vars(found) | {"rule": claim.full_rule, "changed": told, "twins": ", ".join(sorted(same))}
    )


def finding(claim: Claim, evidence: Any, first: str = "") -> Finding:
    """What a claim's rule finds; ``first``: date of the first record where a study is read as a whole."""
    whole = claim.reads in WHOLE and not claim.without_records
    if whole and (missing := WHOLE[claim.reads][1](evidence)):
        return absent(missing)
    try:
        found = claim.function(evidence, **claim.arguments)
    except Exception as error:
        error.add_note(f"row {claim.id} of {FILE}, rule {claim.rule}")
        raise
    return replace(found, since=first) if whole else found


def twins() -> list[list[str]]:
    """Claims that say one thing in several places, in other words or by another number of the same runs: each group has
    one verdict."""
    found: list[list[str]] = _file()["twins"]
    return found


@cache
def changed() -> dict[str, str]:
    """Claim -> when its rule last changed (ISO), and what all share; missing where that is not known."""
    return dates.changed({claim.id: claim.function for claim in claims()}, _file()["changed"])


def counts(judged: pd.DataFrame) -> pd.DataFrame:
    """Claims by verdict and source; verdicts in the order of their list."""
    table = pd.crosstab(judged["verdict"], judged["source"])
    table = table.reindex(index=[v for v in VERDICTS if v in table.index], columns=judged["source"].unique())
    table.columns.name = None
    return table.assign(all=table.sum(axis=1))


def _replicated(judged: pd.DataFrame) -> str:
    """What the replicated claims are, by the kind of their rule."""
    number = judged.loc[judged["verdict"] == "replicated", "kind"].value_counts()
    return ", ".join(
        f"{number[kind]} {words[int(number[kind] > 1)]}" for kind, words in KINDS.items() if kind in number
    )


def _changed(told: Iterable[str]) -> str:
    """How many rules were last changed when their records were there: those could have been drawn to fit."""
    lines = list(told)
    after, before = (sum(word in line for line in lines) for word in (" after its ", " before "))
    unknown = sum(line.endswith("unknown") for line in lines)
    said = f"{after} rules were last changed after the first of their records was made, {before} before it"
    said += f", {unknown} at an unknown time" if unknown else ""
    day = changed().get(dates.SHARED, "")[:10]
    common = f"What all rows share last changed {f'on {day}' if day else 'at an unknown time'}"
    return f"{said}; the other {len(lines) - after - before - unknown} need no record. {common}"


def sentences(judged: pd.DataFrame) -> dict[str, str]:
    """Name -> sentence for the book's first page."""
    parts = []
    for verdict, number in judged["verdict"].value_counts().reindex(VERDICTS).dropna().astype(int).items():
        plural = "s" if verdict in NOUNS and number > 1 else ""
        parts.append(f"{number} {verdict}{plural}" + (f" ({_replicated(judged)})" if verdict == "replicated" else ""))
    defects = judged.loc[judged["verdict"] == "artefact", "defect"].value_counts()
    named = ", ".join(f"{in_words(str(defect))} ({count})" for defect, count in defects.items())
    only = f"The artefacts come out as published only with a flaw: {named}"
    return {
        "claims_counts": f"Of {len(judged)} published claims: {', '.join(parts)}",
        "claims_defects": only if named else "No artefact has been reproduced yet",
        "claims_rules": _changed(judged["changed"]),
    }
