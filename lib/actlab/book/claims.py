"""The ledger as a page shows it: a bar of verdicts, then a row a claim that opens; a script of ours filters the rows,
and without scripts all are there."""

from __future__ import annotations

from typing import Any

import pandas as pd

from actlab import paths
from actlab.book.templates import rendered
from actlab.claims import ledger
from actlab.claims.verdicts import VERDICTS
from actlab.files import read_yaml
from actlab.records.labels import words


def bar(judged: pd.DataFrame) -> Any:
    """The verdicts on claims about outcomes as one stacked bar, with its legend."""
    counts = ledger.outcomes(judged)
    return rendered("claims", counts=counts, said=ledger.replicated(judged))


def rows(judged: pd.DataFrame) -> Any:
    """Every claim, closed: those about outcomes by verdict, the others behind one more fold."""
    ordered = judged.sort_values("verdict", key=lambda column: column.map(VERDICTS.index), kind="stable")
    outcomes, others = (ordered.query(f"kind {sign} 'outcome'").to_dict("index") for sign in ("==", "!="))
    contents = [page for part in read_yaml(paths.ROOT / "_toc.yml")["parts"] for page in part["chapters"]]
    titles = {page["file"]: page["title"] for page in contents}
    return rendered("claims", outcomes=outcomes, others=others, titles=titles, words=words)
