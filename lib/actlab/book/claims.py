"""The ledger as a page shows it: one table, filtered by a script of ours; without scripts it is there in full."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from actlab import paths
from actlab.claims.verdicts import in_words

SCRIPT, STYLE = (Path(__file__).with_name(name) for name in ("claims.js", "claims.css"))
PAGE = (
    '<style>\n{style}</style><div class="ledger" id="ledger">'
    '<div class="ledger-scroll" role="region" aria-label="All claims" tabindex="0"><table role="table">\n'
    '<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">\n'
    "{rows}\n</tbody></table></div></div>\n<script>\n{script}\n"
    'ledger(document.getElementById("ledger"));\n</script>'
)
HEAD = ("Claim", "Reported", "What we find", "Verdict and rule")
ROW = (  # the roles are said again because a narrow screen shows the cells as blocks, which takes them away
    '<tr role="row" id="{id}" data-verdict="{verdict}" data-source="{source}">\n'
    '<th role="rowheader" scope="row"><a href="#{id}">{id}</a> {claim}<small>{source}: {section}{twins}</small></th>\n'
    f'<td role="cell" data-label="{HEAD[1]}">{{reported}}</td>'
    f'<td role="cell" data-label="{HEAD[2]}">{{ours}}<small>{{basis}}{{link}}</small></td>\n'
    f'<td role="cell" data-label="{HEAD[3]}"><span class="verdict">{{verdict}}</span>{{defect}}\n'
    "<small>{rule}</small><small>{changed}</small></td></tr>"
)


def table(judged: pd.DataFrame) -> Any:
    """The judged ledger for a notebook."""
    from IPython.display import HTML

    head = "".join(f'<th role="columnheader" scope="col">{name}</th>' for name in HEAD)
    rows = "\n".join(_row(str(id), claim) for id, claim in judged.iterrows())
    return HTML(PAGE.format(style=STYLE.read_text(), head=head, rows=rows, script=SCRIPT.read_text()))


def _row(id: str, claim: pd.Series[str]) -> str:
    cells = {str(name): escape(str(value)) for name, value in claim.items()}
    if defect := cells["defect"]:
        cells["defect"] = f' (<span title="{defect}">{escape(in_words(claim["defect"]))}</span>)'
    cells["basis"] += ": " if cells["basis"] else ""
    links = ", ".join(f'<a href="#{other}">{other}</a>' for other in cells["twins"].split(", ") if other)
    cells["twins"] = f"; the same claim: {links}" if links else ""
    return ROW.format(id=escape(id), **{**cells, "link": _link(cells["page"])})


def _link(page: str) -> str:
    """From a page below studies/ to another page of the book."""
    folder, _, name = page.rpartition("/")
    return f'<a href="{name if folder == "studies" else f"../{page}"}.html">{escape(_titles().get(page, name))}</a>'


@cache
def _titles() -> dict[str, str]:
    """Page -> its title in the table of contents, where it has one of its own there."""
    contents = yaml.safe_load((paths.ROOT / "_toc.yml").read_text(encoding="utf-8"))
    entries = [entry for part in contents["parts"] for entry in part["chapters"]]
    return {entry["file"]: entry["title"] for entry in entries if "title" in entry}
