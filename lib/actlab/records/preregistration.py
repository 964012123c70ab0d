"""What was written before what, from the repository's history: registered plans and rules of params files against the
dates of the records that they plan.

A record carries the hash of the params file that held its plan, and when each of its trials started.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from actlab import paths
from actlab.files import read_yaml
from actlab.records.families import finished
from actlab.records.store import Record
from actlab.records.wording import moment


def params_of(study: str) -> dict[str, Any]:
    """``params/<study>.yaml`` as it stands now, as plain values; empty where there is none."""
    file = paths.ROOT / "params" / f"{study}.yaml"
    return dict(read_yaml(file)) if file.exists() else {}


def plan_of(study: str) -> dict[str, Any]:
    """The plan in a params file; empty where there is none."""
    return dict(params_of(study).get("plan", {}))


def registrations(records: Iterable[Record]) -> pd.DataFrame:
    """A row a plan that records of one study were made under, the oldest first; none for records without a plan.

    Columns: its ``version``; ``commit``, the first that holds the params file in this form, and when (``committed``,
    ISO 8601), empty where the history does not have it; ``first_run``, when the first trial of these ``records`` began
    to train, empty where a record does not say.
    """
    rows = [
        {**plan, "study": record["study"], "first_run": min(str(t.get("started", "")) for t in record["trials"])}
        for record in records
        if (plan := record.get("provenance", {}).get("plan"))
    ]
    plan = ["version", "study", "sha256"]
    by_plan = pd.DataFrame(rows, columns=[*plan, "first_run"]).groupby(plan)["first_run"]
    found = by_plan.agg(first_run="min", records="size").reset_index()
    first = [first_form(f"params/{row.study}.yaml", row.sha256) for row in found.itertuples()]
    found[["commit", "committed"]] = pd.DataFrame(first, columns=["commit", "committed"])
    return found.sort_values(["version", "first_run"])


def commits(path: str) -> dict[str, str]:
    """Hash -> when it was made (ISO 8601 with an offset) of the commits of a path, the oldest first (a copy or a
    renamed file begins anew); none without git or history."""
    lines = (paths.git("log", "--reverse", "--format=%H %cI", "--", path) or "").splitlines()
    return dict(line.split() for line in lines)


def first_form(path: str, sha256: str) -> tuple[str, str]:
    """The first commit that holds a file in the form of this hash, and when it was made; empty where the history has
    none."""
    for commit, date in commits(path).items():
        content = paths.git("show", f"{commit}:{path}") or ""
        if hashlib.sha256(content.encode()).hexdigest() == sha256:
            return commit, date
    return "", ""


def began(record: Record) -> datetime:
    """When the training of a record had begun at the latest: when it was written minus its longest trial (trials may
    run side by side)."""
    seconds = max((sum(trial.get("seconds", {}).values()) for _, trial in finished([record])), default=0)
    return datetime.fromisoformat(record["provenance"]["date"]) - timedelta(seconds=seconds)


def of_rule(path: str, records: list[Record]) -> str:
    """A sentence: when the rule of a params file was committed, and whether before the training of the study's
    records."""
    arms = [record for record in records if record["kind"] == "trials"]
    cut_off = (paths.git("rev-parse", "--is-shallow-repository") or "").strip() != "false"
    found = {} if cut_off else commits(path)
    if not arms:
        return ""
    if not found:
        return f"When the rule of {path} was written is not known here: there is no history of the repository"
    (rule, *_), last, first_run = found, [*found][-1], min(map(began, arms))
    before = datetime.fromisoformat(found[rule]) < first_run
    said = f"The rule of {path} was committed on {moment(found[rule])} ({rule[:7]}), "
    said += (
        "before the training of every record of this study" if before else "after records of this study: exploratory"
    )
    if last != rule and datetime.fromisoformat(found[last]) > first_run:
        said += f"; the file has been changed since, last on {moment(found[last])} ({last[:7]})"
    return said
