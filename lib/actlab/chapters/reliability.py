"""What the tests of faults and of bad input did, as a record below results/reliability and as tables. Injects no fault
itself; no torch."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from actlab.records import store
from actlab.wording import moment

STUDY = "reliability"
COMMAND = "pytest tests/faults tests/fuzz --hypothesis-profile=many --reliability"
"""Writes a record, if every test has passed."""
MISSING = pd.DataFrame({"": {"measured": "not yet"}})


def newest() -> store.Record | None:
    """The last record; ``None`` where there is none."""
    return max(store.load_study(STUDY), key=lambda record: str(record["provenance"]["date"]), default=None)


def faults(record: store.Record | None) -> pd.DataFrame:
    """One row a fault: how often it was brought about, what came of it, how many records were compared with those of an
    undisturbed run."""
    if record is None:
        return MISSING
    rows = {
        _plain(row["fault"]): {
            "times": row["times"],
            "what came of it": _plain(row["outcome"]) + (f" ({row['note']})" if row.get("note") else ""),
            "records compared": row["compared"],
            "lost": row["lost"],
            "seconds": f"{row['seconds']:.1f}",
        }
        for row in record["faults"]
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def _plain(text: str) -> str:
    """Without marks of Markdown, which a table does not render, and with a damage set apart from what was damaged."""
    apart = re.sub(r"^a record (?=cut|edited|empty|other bytes|a list)", "a record: ", text.replace("`", ""))
    return re.sub(
        r": a list$", ": a list in its place", re.sub(r": other bytes$", ": overwritten with other bytes", apart)
    )


def doors(record: store.Record | None) -> pd.DataFrame:
    """One row a door: bad and odd inputs tried, how many could be used, how many were refused with a sentence, and what
    remains: tracebacks."""
    if record is None:
        return MISSING
    rows = [
        {
            "door": door,
            "inputs tried": f"{counts['tried']:,}",
            "used": f"{counts['used']:,}",
            "refused with a sentence": f"{counts['refused']:,}",
            "tracebacks": counts["tried"] - counts["used"] - counts["refused"],
        }
        for door, counts in sorted(record["doors"].items())
    ]
    return pd.DataFrame(rows).set_index("door")


def totals(record: store.Record | None) -> pd.DataFrame:
    """The sums of both tables, and where and when they were measured."""
    if record is None:
        return MISSING
    made, tried = record["provenance"], record["doors"].values()
    rows: dict[str, Any] = {
        "kinds of faults": len(record["faults"]),
        "faults": sum(row["times"] for row in record["faults"]),
        "records compared with an undisturbed run's": sum(row["compared"] for row in record["faults"]),
        "results lost": sum(row["lost"] for row in record["faults"]),
        "bad or odd inputs": f"{sum(counts['tried'] for counts in tried):,}",
        "tracebacks": sum(counts["tried"] - counts["used"] - counts["refused"] for counts in tried),
        "seconds": f"{record['seconds']:.0f}",
        "processor": made["machine"]["processor"],
        "date": moment(made["date"]),
        "commit": (made["git_commit"] or "none")[:10] + (" (changed)" if made["git_dirty"] else ""),
    }
    return pd.DataFrame({"": rows})
