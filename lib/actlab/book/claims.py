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

SCRIPT = Path(__file__).with_name("claims.js")
STYLE = """<style>
div.cell_output .text_html:has(.ledger) { background: transparent !important; padding: 0 !important; }
.ledger-filters { display: flex; flex-wrap: wrap; gap: 0.4rem 1.2rem; align-items: center; }
.ledger-filters :is(input, select, button) {
  font: inherit; color: inherit; background: transparent; border: 1px solid currentColor; border-radius: 4px; padding: 0.1rem 0.4rem;
  max-width: 14rem;
}
.ledger-filters option { color: #000; background: #fff; }
.ledger { color: var(--pst-color-text-base, inherit); }
.ledger-scroll { overflow-x: auto; }
/* by its id: the theme has rules of its own for the tables of a cell */
#ledger table { font-size: 0.85em; line-height: 1.4; min-width: 40rem; width: 100%; border-collapse: collapse; table-layout: fixed; }
.ledger thead th { width: 28%; }
.ledger thead th:nth-child(2) { width: 16%; }
.ledger :is(th, td) {
  font-weight: 400; text-align: left; vertical-align: top; padding: 0.3rem 0.5rem; border-bottom: 1px solid var(--pst-color-border, #bbb);
}
.ledger thead th { font-weight: 600; }
.ledger small { display: block; font-size: 0.9em; margin-top: 0.2rem; }
.ledger :is(th, td) { overflow-wrap: break-word; }
.ledger :is(.verdict, th a) { font-weight: 600; }
.ledger tr:target { outline: 2px solid currentColor; }
@media (max-width: 600px) {
  #ledger table { min-width: 0; font-size: 0.9em; }
  .ledger thead, .ledger tr[hidden] { display: none; }
  .ledger :is(table, tbody, tr:not([hidden]), tbody th, td) { display: block; }
  .ledger tbody tr { padding: 0.6rem 0; border-bottom: 1px solid var(--pst-color-border, #bbb); }
  .ledger :is(tbody th, td) { border: 0; padding: 0.15rem 0; }
  .ledger td::before { content: attr(data-label) ": "; font-weight: 600; }
}
</style>"""
PAGE = """{style}<div class="ledger" id="ledger"><div class="ledger-scroll" role="region" aria-label="All claims" tabindex="0"><table role="table">
<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">
{rows}
</tbody></table></div></div>
<script>
{script}
ledger(document.getElementById("ledger"));
</script>"""
HEAD = ("Claim", "Reported", "What we find", "Verdict and rule")
# the roles are said again because a narrow screen shows the cells as blocks, which takes them away
ROW = f"""<tr role="row" id="{{id}}" data-verdict="{{verdict}}" data-source="{{source}}">
<th role="rowheader" scope="row"><a href="#{{id}}">{{id}}</a> {{claim}}<small>{{source}}: {{section}}{{twins}}</small></th>
<td role="cell" data-label="{HEAD[1]}">{{reported}}</td><td role="cell" data-label="{HEAD[2]}">{{ours}}<small>{{basis}}{{link}}</small></td>
<td role="cell" data-label="{HEAD[3]}"><span class="verdict">{{verdict}}</span>{{defect}}
<small>{{rule}}</small><small>{{changed}}</small></td></tr>"""


def table(judged: pd.DataFrame) -> Any:
    """The judged ledger for a notebook."""
    from IPython.display import HTML

    head = "".join(f'<th role="columnheader" scope="col">{name}</th>' for name in HEAD)
    rows = "\n".join(_row(str(id), claim) for id, claim in judged.iterrows())
    return HTML(PAGE.format(style=STYLE, head=head, rows=rows, script=SCRIPT.read_text(encoding="utf-8")))


def _row(id: str, claim: pd.Series[str]) -> str:
    cells = {str(name): escape(str(value)) for name, value in claim.items()}
    cells["defect"] = (
        f' (<span title="{cells["defect"]}">{escape(in_words(claim["defect"]))}</span>)' if cells["defect"] else ""
    )
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
    return {
        entry["file"]: entry["title"] for part in contents["parts"] for entry in part["chapters"] if "title" in entry
    }
