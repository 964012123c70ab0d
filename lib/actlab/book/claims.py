"""The ledger as a page shows it: a bar of verdicts, then a row a claim that opens; a script of ours filters the rows,
and without scripts all are there."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
from actlab import paths
from actlab.claims import ledger
from actlab.claims.verdicts import VERDICTS
from actlab.files import read_yaml
from actlab.records.labels import words

SCRIPT, STYLE = (Path(__file__).with_name(name) for name in ("claims.js", "claims.css"))
WORKS = "studies/methods#the-audited-works"
"""Where the audited documents are listed."""
BAR = (
    '<style>\n{style}</style><figure class="verdicts"><div role="img" aria-label="{said}">{parts}</div>'
    '<ul>{legend}</ul><figcaption><span class="caption-text">Of the 21 claims about outcomes that are decided, 16 are '
    "artefacts: they come out only with a flaw. Settings and counts are left out.</span></figcaption>"
    "</figure>"
)
PAGE = (
    '<div class="ledger" id="ledger">\n{outcomes}\n<details class="others"><summary>Settings, counts and arithmetic: '
    "{number} claims</summary>\n{others}</details></div>\n<script>\n{script}\n"
    'ledger(document.getElementById("ledger"));\n</script>'
)
ROW = (
    '<details id="{id}" data-verdict="{verdict}" data-source="{source}"><summary><b>{id}</b> '
    '<span class="verdict">{verdict}</span> {claim}</summary><dl>\n'
    "<dt>Published</dt><dd>{reported} ({work}, {section})</dd>\n<dt>Found</dt><dd>{basis}{ours}{defect} ({link})</dd>\n"
    '<dt>Rule</dt><dd>{rule}; {changed}{twins} <a href="#{id}">Link to {id}</a></dd></dl></details>'
)


def bar(judged: pd.DataFrame) -> Any:
    """The verdicts on claims about outcomes as one stacked bar, with its legend."""
    from IPython.display import HTML

    counts = ledger.outcomes(judged)
    parts = "".join(f'<span data-verdict="{name}" style="flex:{number}"></span>' for name, number in counts.items())
    legend = "".join(f'<li data-verdict="{name}">{number} {name}</li>' for name, number in counts.items())
    return HTML(BAR.format(style=STYLE.read_text(), said=ledger.replicated(counts), parts=parts, legend=legend))


def rows(judged: pd.DataFrame) -> Any:
    """Every claim, closed: those about outcomes by verdict, the others behind one more fold."""
    from IPython.display import HTML

    ordered = judged.assign(place=judged["verdict"].map(VERDICTS.index)).sort_values("place", kind="stable")
    outcome = ordered["kind"] == "outcome"
    outcomes, others = (
        "\n".join(_row(str(id), claim) for id, claim in part.iterrows())
        for part in (ordered[outcome], ordered[~outcome])
    )
    number, script = int((~outcome).sum()), SCRIPT.read_text()
    return HTML(PAGE.format(outcomes=outcomes, others=others, number=number, script=script))


def _row(id: str, claim: pd.Series[Any]) -> str:
    cells = {str(name): escape(str(value)) for name, value in claim.items()}
    links = ", ".join(f'<a href="#{other}">{other}</a>' for other in cells["twins"].split(", ") if other)
    return ROW.format(
        **cells
        | {
            "id": escape(id),
            "basis": f"{cells['basis']}: " if cells["basis"] else "",
            "defect": f"; the flaw: {escape(words(str(claim['defect'])))}" if claim["defect"] else "",
            "twins": f"; the same claim: {links}." if links else ".",
            "link": _link(str(claim["page"]), "evidence: " + _titles().get(str(claim["page"]), str(claim["page"]))),
            "work": _link(WORKS, str(claim["document"])),
        }
    )


def _link(page: str, words: str) -> str:
    """From a page below studies/ to another page of the book, or a section of it."""
    name, _, section = page.partition("#")
    place = name.removeprefix("studies/") if name.startswith("studies/") else f"../{name}"
    return f'<a href="{place}.html{f"#{section}" if section else ""}">{escape(words)}</a>'


@cache
def _titles() -> dict[str, str]:
    """Page -> its title in the table of contents, where it has one of its own there."""
    contents = read_yaml(paths.ROOT / "_toc.yml")
    entries = [entry for part in contents["parts"] for entry in part["chapters"]]
    return {entry["file"]: entry["title"] for entry in entries if "title" in entry}
