"""The table of activations as a page shows it: from the package's own table, formulas as MathML."""

from __future__ import annotations

from html import escape
from typing import Any

from actlab.activations import ACTIVATIONS
from actlab.book.mathml import to_mathml

ROW = "<tr><td><code>{name}</code></td><td>{formula}</td><td>{kind}</td><td>{source}</td></tr>"
HEAD = "".join(f'<th scope="col">{name}</th>' for name in ("name", "formula", "kind", "source"))
TABLE = (
    "<details><summary>Every activation: formula and source</summary>"
    f'<div style="overflow-x: auto"><table class="table"><thead><tr>{HEAD}</tr></thead>'
    "<tbody>{rows}</tbody></table></div></details>"
)


def activations() -> Any:
    """Name, formula, kind and source of every activation, for a notebook."""
    from IPython.display import HTML

    rows = [
        ROW.format(
            name=a.name,
            formula=to_mathml(a.formula, "inline"),
            kind="gated" if a.gated else "plain",
            source=escape(a.source),
        )
        for a in ACTIVATIONS.values()
    ]
    return HTML(TABLE.format(rows="".join(rows)))
