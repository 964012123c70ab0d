"""What was written before what, from the repository's history: registered plans against the runs that they plan.

A record carries the hash of the params file that held its plan, and when each of its trials started.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import pandas as pd

from actlab import paths
from actlab.records.store import Record


def registrations(records: Iterable[Record]) -> pd.DataFrame:
    """Return a row a plan that records of one study were made under, the oldest first; none for records without a plan.

    Columns: its ``version``; ``commit``, the first that holds the params file in this form, and when (``committed``,
    ISO 8601), as ``first_form`` says; ``first_run``, when the first trial of these ``records`` began
    to train, empty where a record does not say.
    """
    rows = []
    for record in records:
        if plan := record.get("provenance", {}).get("plan"):
            first_run = min(str(trial.get("started", "")) for trial in record["trials"])
            rows.append({**plan, "study": record["study"], "first_run": first_run})
    names = ["version", "study", "sha256"]
    by_plan = pd.DataFrame(rows, columns=[*names, "first_run"]).groupby(names)["first_run"]
    plans = by_plan.agg(first_run="min", records="size").reset_index()
    first = [first_form(f"params/{row.study}.yaml", row.sha256) for row in plans.itertuples()]
    plans[["commit", "committed"]] = pd.DataFrame(first, columns=["commit", "committed"])
    return plans.sort_values(["version", "first_run"])


def commits(path: str) -> dict[str, str]:
    """Map the hash of each commit of a path to when it was made (ISO 8601 with an offset), the oldest first (a copy or
    a renamed file begins anew); none without git or history."""
    lines = (paths.git("log", "--reverse", "--format=%H %cI", "--", path) or "").splitlines()
    return dict(line.split() for line in lines)


def first_form(path: str, sha256: str) -> tuple[str, str]:
    """Find the first commit that holds a file in the form of this hash, and when it was made; empty where the history
    has none, ``unknown`` where git does not answer."""
    if paths.git("rev-parse", "HEAD") is None:
        return "unknown", "unknown"
    for commit, date in commits(path).items():
        content = paths.git("show", f"{commit}:{path}") or ""
        if hashlib.sha256(content.encode()).hexdigest() == sha256:
            return commit, date
    return "", ""
