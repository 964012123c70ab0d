"""The ledger as a page shows it: one table, filtered by a script of ours; without scripts it is there in full."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

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
.ledger table { font-size: 0.8em; line-height: 1.4; min-width: 40rem; width: 100%; border-collapse: collapse; table-layout: fixed; }
.ledger thead th { width: 29%; }
.ledger thead th:nth-child(2) { width: 13%; }
.ledger :is(th, td) {
  font-weight: 400; text-align: left; vertical-align: top; padding: 0.3rem 0.5rem; border-bottom: 1px solid var(--pst-color-border, #bbb);
}
.ledger thead th { font-weight: 600; }
.ledger small { display: block; margin-top: 0.2rem; opacity: 0.85; }
.ledger td { overflow-wrap: anywhere; }
.ledger :is(.verdict, th a) { font-weight: 600; }
.ledger tr:target { outline: 2px solid currentColor; }
</style>"""
PAGE = """{style}<div class="ledger" id="ledger"><div class="ledger-scroll" role="region" aria-label="All claims" tabindex="0"><table>
<thead><tr>{head}</tr></thead><tbody>
{rows}
</tbody></table></div></div>
<script>
{script}
ledger(document.getElementById("ledger"));
</script>"""
HEAD = ("Claim", "Reported", "What we find", "Verdict and rule")
ROW = """<tr id="{id}" data-verdict="{verdict}" data-source="{source}">
<th scope="row"><a href="#{id}">{id}</a> {claim}<small>{source}: {section}</small></th><td>{reported}</td>
<td>{ours}<small>{basis}{link}</small></td><td><span class="verdict">{verdict}</span>{defect}<small>{rule}</small></td></tr>"""


def table(judged: pd.DataFrame) -> Any:
    """The judged ledger for a notebook."""
    from IPython.display import HTML

    head = "".join(f'<th scope="col">{name}</th>' for name in HEAD)
    rows = "\n".join(_row(str(id), claim) for id, claim in judged.iterrows())
    return HTML(PAGE.format(style=STYLE, head=head, rows=rows, script=SCRIPT.read_text(encoding="utf-8")))  # type: ignore[no-untyped-call]


def _row(id: str, claim: pd.Series[str]) -> str:
    cells = {str(name): escape(str(value)) for name, value in claim.items()}
    cells["defect"] = f" ({cells['defect']})" if cells["defect"] else ""
    cells["basis"] += ": " if cells["basis"] else ""
    return ROW.format(id=escape(id), **{**cells, "link": _link(cells["page"])})


def _link(page: str) -> str:
    """From a page below studies/ to another page of the book."""
    folder, _, name = page.rpartition("/")
    return f'<a href="{name}.html">{name}</a>' if folder == "studies" else f'<a href="../{page}.html">{name}</a>'
