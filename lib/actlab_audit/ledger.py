"""The ledger: every published claim (``claims.yaml``) with its verdict, from all records at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import chain
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal

import pandas as pd
from IPython.display import HTML
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field

from actlab import paths
from actlab.errors import BadInput
from actlab.files import escaped, read_yaml
from actlab.records import store
from actlab.records.labels import words
from actlab.records.settings import date_of, usual
from actlab_audit import ablation, mnist
from actlab_audit.evidence import gather, since
from actlab_audit.verdicts import VERDICTS, Finding, absent

FILE = Path(__file__).with_name("claims.yaml")
KINDS = {"outcome": "outcomes of training", "setting": "settings", "count": "counts and arithmetic"}
"""Kind of claim -> what claims of it are about."""


class Claim(BaseModel):
    """One published claim: a row of ``claims.yaml`` with what its rule and its source give by default."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    id: str
    source: str
    reads: str
    """A key of ``READERS``."""
    document: str
    """The audited text: author, title, file."""
    section: str
    """Of that text."""
    claim: str
    """In our words."""
    reported: str
    rule: str
    """``module.function`` of this folder."""
    arguments: dict[str, Any] = Field({}, alias="with")
    why: str
    """How the verdict follows from the numbers, written before they were known."""
    page: str
    """Of the book, with the evidence."""
    kind: Literal["setting", "count", "outcome"] = "outcome"
    """Whether a stated setting was run; what counting or the text's arithmetic gives; what training brought about."""

    @property
    def full_rule(self) -> str:
        """Why, with what the arguments say of scales and of flaws that have no record."""
        return self.why + "".join(
            _file()["clauses"][name].format(" or ".join(value) if isinstance(value, list) else words(value))
            for name, value in self.arguments.items()
            if name in _file()["clauses"] and not self.rule.startswith("text_rules.")
        )


READERS: dict[str, tuple[tuple[tuple[str, ...], ...], Callable[..., Any], Callable[[Any], str]]] = {
    "mnist": ((("mnist", "mnist-epochs"),), mnist.read, mnist.lacks),
    "ablation": (
        (("ablation-124m",), ("ablation-novels",)),
        lambda records: ablation.read(usual(records)),
        ablation.lacks,
    ),
    "models": (((),), gather, lambda evidence: ""),
}
"""What is read -> groups of studies whose records are read as a whole, of which the first that decides counts; how;
what it lacks for any verdict from records."""


@cache
def _file() -> dict[str, Any]:
    return read_yaml(FILE)


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


@cache
def changes() -> dict[str, str]:
    """Id of a row -> when its rule last changed (ISO); ``shared``: what all rules share."""
    return {claim: date for date, ids in _file()["changed"].items() for claim in ids}


def judge() -> pd.DataFrame:
    """One row a claim, by id."""
    found: dict[str, list[tuple[Any, str]]] = {}
    for name, (groups, read, _) in READERS.items():
        each = [[store.load_study(study) for study in studies] for studies in groups]
        found[name] = [(read(*records), since(map(date_of, chain(*records)))) for records in each]
    rows = {claim.id: _row(claim, decisive(claim, found[claim.reads])) for claim in claims()}
    return pd.DataFrame.from_dict(rows, orient="index")


def decisive(claim: Claim, found: Sequence[tuple[Any, str]]) -> Finding:
    """The finding of the first evidence by which a claim was run; of the last where it was by none."""
    each = [finding(claim, *evidence) for evidence in found]
    return next((one for one in each if one.verdict != "not run"), each[-1])


def _row(claim: Claim, found: Finding) -> dict[str, Any]:
    same = {other for group in twins() if claim.id in group for other in group} - {claim.id}
    changed = told(max(changes()[claim.id], changes()["shared"]), found)
    about = {"rule": claim.full_rule, "changed": changed, "twins": ", ".join(sorted(same))}
    return claim.model_dump(exclude={"id", "reads", "arguments", "why"}) | vars(found) | about


def told(changed: str, found: Finding) -> str:
    """When a rule last changed (ISO), and whether the records that the finding read existed then."""
    day = f"rule last changed {changed[:10]}"
    if not found.since:
        return f"{day}, {'before any record' if found.verdict == 'not run' else 'needs no record'}"
    before = datetime.fromisoformat(changed) < datetime.fromisoformat(found.since)
    return f"{day}, {'before' if before else 'after'} its first record"


def finding(claim: Claim, evidence: Any, first: str = "") -> Finding:
    """What a claim's rule finds; ``first``: date of the first record where a study is read as a whole."""
    from_records = not claim.rule.startswith("text_rules.")
    if from_records and (missing := READERS[claim.reads][2](evidence)):
        return absent(missing)
    try:
        found: Finding = resolve_name(f"actlab_audit.{claim.rule}")(evidence, **claim.arguments)
    except Exception as error:
        error.add_note(f"row {claim.id} of {FILE}, rule {claim.rule}")
        raise
    return replace(found, since=found.since or first) if from_records else found


def twins() -> list[list[str]]:
    """Groups of claims that say one thing, in other words or by another number of the same runs."""
    return _file()["twins"]


def statements(judged: pd.DataFrame) -> pd.DataFrame:
    """The rows without those that say again what an earlier one said (``twins``)."""
    return judged.drop(index=[other for _, *others in twins() for other in others], errors="ignore")


def table(judged: pd.DataFrame) -> pd.DataFrame:
    """A row a verdict: how many of these claims of each kind have it, and what it means."""
    counts = pd.crosstab(judged["verdict"], judged["kind"]).reindex(VERDICTS, columns=[*KINDS], fill_value=0)
    return counts.rename(columns=KINDS).rename_axis(index=None, columns=None).assign(meaning=_file()["meanings"])


def _plain(value: object) -> Markup:
    """Text of a claim, escaped as everywhere; what a macro of the template wrote, as it is."""
    return value if isinstance(value, Markup) else Markup(escaped(value))  # noqa: S704  # made safe here


PARTS = FileSystemLoader(Path(__file__).parent)
TEMPLATE = Environment(loader=PARTS, autoescape=True, finalize=_plain).get_template("page.html")


def bar(judged: pd.DataFrame) -> Any:
    """The verdicts on claims about outcomes as one stacked bar, with its legend."""
    counts = table(judged)[KINDS["outcome"]].loc[lambda number: number > 0].to_dict()
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    return HTML(TEMPLATE.render(counts=counts, said=said))


def rows(judged: pd.DataFrame) -> Any:
    """Every claim, closed: those about outcomes by verdict, the others behind one more fold."""
    ordered = judged.sort_values("verdict", key=lambda column: column.map(VERDICTS.index), kind="stable")
    outcomes, others = (ordered.query(f"kind {sign} 'outcome'").to_dict("index") for sign in ("==", "!="))
    contents = [page for part in read_yaml(paths.ROOT / "_toc.yml")["parts"] for page in part["chapters"]]
    titles = {page["file"]: page["title"] for page in contents}
    return HTML(TEMPLATE.render(outcomes=outcomes, others=others, titles=titles, words=words))
