"""The ledger: every published claim (``claims.yaml``) with its verdict, from all records at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from functools import cache
from html import escape
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import numpy as np
import pandas as pd
from IPython.display import HTML
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from actlab import paths
from actlab.files import read_yaml
from actlab.records.labels import words
from actlab_audit import ablation, mnist
from actlab_audit.evidence import gather
from actlab_audit.verdicts import LACKS, Finding

FILE = Path(__file__).with_name("claims.yaml")
KINDS = {"outcome": "outcomes of training", "setting": "settings", "count": "counts, arithmetic, examples"}
"""Kind of claim -> what claims of it are about."""


@cache
def parts() -> dict[str, Any]:
    """What stands in the file."""
    return read_yaml(FILE)


@cache
def claims() -> pd.DataFrame:
    """A row a claim, in the order of the file, with what its rule and its source give by default: ``id``; ``source``,
    ``document``, ``section`` of the audited text; the ``claim`` in our words; ``reported``; its ``rule`` (a function of
    this folder, as module.name), the rule's ``arguments``, and ``why`` the verdict follows from the numbers, written
    before they were known; the ``page`` with the evidence; what it ``reads``; its ``kind``: a stated setting, what
    counting or the text's arithmetic gives, or an outcome of training."""
    always, rules = {"with": {}, "kind": "outcome"}, parts()["rules"]
    rows = [
        always | source | rules.get(row["rule"], {}) | row for source in parts()["sources"] for row in source["claims"]
    ]
    table = pd.DataFrame(rows).drop(columns="claims").rename(columns={"with": "arguments"})
    return table.set_index("id", drop=False)


def judge() -> pd.DataFrame:
    """The claims with their findings, by id. Of two ablations the first by which a claim was run counts."""
    ablations = [ablation.read("ablation-124m"), ablation.read("ablation-novels")]
    evidence = {"mnist": [mnist.read()], "ablation": ablations, "models": [gather()]}
    twins = {id: ", ".join(sorted({*group} - {id})) for group in parts()["twins"] for id in group}
    rows = {}
    for claim in claims().itertuples():
        each = [finding(claim, read) for read in evidence[claim.reads]]
        found = next((one for one in each if one.verdict != "not run"), each[-1])
        about = {"rule": full_rule(claim), "changed": dated(claim.id, found), "twins": twins.get(claim.id, "")}
        rows[claim.id] = vars(found) | {"lacks": found.lacks or LACKS.get(found.verdict, "")} | about
    judged = pd.DataFrame.from_dict(rows, orient="index")
    return claims().drop(columns=["id", "rule", "arguments", "why", "reads"]).join(judged)


def finding(claim: Any, evidence: pd.DataFrame | None) -> Finding:
    """What the rule of a row of ``claims`` finds in its evidence; None: there is none that could decide."""
    rule = resolve_name(f"actlab_audit.{claim.rule}")
    if claim.rule.startswith("text_rules."):
        found: Finding = rule(**claim.arguments)
        return found
    if evidence is None:
        return Finding("not run", "no record yet")
    found = rule(evidence, **claim.arguments)
    return found if claim.reads == "models" else replace(found, since=evidence["date"].min())


def full_rule(claim: Any) -> str:
    """Why, with what the arguments say of scales and of flaws that have no record."""
    said = claim.why
    for name, clause in parts()["clauses"].items():
        if name in claim.arguments:
            said += clause.format(" or ".join(map(words, np.atleast_1d(claim.arguments[name]))))
    return said


def dated(id: str, found: Finding) -> str:
    """When the row's rule last changed, or what all share, and whether the records that its finding read were there."""
    changed = max(date for date, ids in parts()["changed"].items() if {id, "shared"} & {*ids})
    if found.since:
        before = datetime.fromisoformat(changed) < datetime.fromisoformat(found.since)
        told = f"{'before' if before else 'after'} its first record"
    else:
        told = "before any record" if found.verdict == "not run" else "needs no record"
    return f"rule last changed {changed[:10]}, {told}"


def statements(judged: pd.DataFrame) -> pd.DataFrame:
    """The rows without those that say again what an earlier one said, in other words or by another number of the same
    runs (``twins``)."""
    return judged.drop(index=[other for _, *others in parts()["twins"] for other in others], errors="ignore")


def groups() -> dict[str, str]:
    """Verdict -> its group, in the order of the page."""
    return {verdict: group for group, about in parts()["groups"].items() for verdict in about["verdicts"]}


def table(judged: pd.DataFrame) -> pd.DataFrame:
    """A row a verdict, by group: how many of these claims of each kind have it, and what it means."""
    counts = pd.crosstab(judged["verdict"], judged["kind"]).reindex([*groups()], columns=[*KINDS], fill_value=0)
    named = counts.rename(columns=KINDS).assign(meaning=parts()["meanings"], group=groups())
    return named.set_index("group", append=True).swaplevel().rename_axis(columns=None)


def _plain(value: object) -> Markup:
    """Text of a claim, escaped as everywhere; what a macro of the template wrote, as it is."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704  # made safe here


TEMPLATE = Environment(loader=FileSystemLoader(FILE.parent), autoescape=True, finalize=_plain).get_template("page.html")


def bar(judged: pd.DataFrame) -> Any:
    """How many claims about outcomes are in each group, as one bar, and what the groups mean."""
    counts = judged.loc[judged["kind"] == "outcome", "verdict"].map(groups()).value_counts()
    found = {group: counts[group] for group in parts()["groups"] if group in counts}
    said = ", ".join(f"{number} {group}" for group, number in found.items())
    return HTML(TEMPLATE.render(groups=found, means=parts()["groups"], said=said))


def rows(judged: pd.DataFrame) -> Any:
    """Every claim, closed: those about outcomes by verdict, the others behind one more fold."""
    ordered = judged.sort_values("verdict", key=lambda column: column.map([*groups()].index), kind="stable")
    menus = {name: ordered[name].unique() for name in ("verdict", "source")}
    outcomes, others = (ordered.query(f"kind {sign} 'outcome'").to_dict("index") for sign in ("==", "!="))
    chapters = [page for part in read_yaml(paths.ROOT / "_toc.yml")["parts"] for page in part["chapters"]]
    contents = [page for chapter in chapters for page in (chapter, *chapter.get("sections", []))]
    titles = {page["file"]: page["title"] for page in contents}
    return HTML(TEMPLATE.render(menus=menus, outcomes=outcomes, others=others, titles=titles, words=words))
