"""The ledger as a page shows it: a bar of verdicts, then a row a claim that opens; a script of ours filters the rows,
and without scripts all are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import HTML
from jinja2 import Environment, FileSystemLoader

from actlab import paths
from actlab.files import read_yaml
from actlab.records.labels import words
from actlab_audit import ledger
from actlab_audit.verdicts import VERDICTS

TEMPLATE = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True).get_template("page.html")


def bar(judged: pd.DataFrame) -> Any:
    """The verdicts on claims about outcomes as one stacked bar, with its legend."""
    counts = ledger.statements(judged)["rows"].to_dict()
    said = ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
    return HTML(TEMPLATE.render(counts=counts, said=said))


def rows(judged: pd.DataFrame) -> Any:
    """Every claim, closed: those about outcomes by verdict, the others behind one more fold."""
    ordered = judged.sort_values("verdict", key=lambda column: column.map(VERDICTS.index), kind="stable")
    outcomes, others = (ordered.query(f"kind {sign} 'outcome'").to_dict("index") for sign in ("==", "!="))
    contents = [page for part in read_yaml(paths.ROOT / "_toc.yml")["parts"] for page in part["chapters"]]
    titles = {page["file"]: page["title"] for page in contents}
    return HTML(TEMPLATE.render(outcomes=outcomes, others=others, titles=titles, words=words))
