"""What was written before what, from the repository's history: registered plans and rules of params files against the
dates of the records that they plan.

A record carries the hash of the params file that held its plan, and when each of its trials started.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from actlab import paths
from actlab.files import read_yaml
from actlab.records.families import trials_of
from actlab.records.store import Record
from actlab.records.wording import moment


@dataclass(frozen=True)
class Commit:
    """A commit: its hash and when it was made (ISO 8601 with an offset)."""

    name: str
    date: str


@dataclass(frozen=True)
class Registration:
    """One version of a plan, and the first training of the records that were made under it."""

    study: str
    version: int
    commit: str
    """The first commit that holds the params file in this form; empty where the history does not have it."""
    committed: str
    """When, as ISO 8601 with an offset; empty likewise."""
    first_run: str
    """When the first trial of these records began to train; empty where a record does not say."""
    records: int

    @property
    def before(self) -> bool | None:
        """Whether the plan was committed before the first training; None where history or records do not say."""
        if not self.committed or not self.first_run:
            return None
        return datetime.fromisoformat(self.committed) <= datetime.fromisoformat(self.first_run)


def params_of(study: str) -> dict[str, Any]:
    """``params/<study>.yaml`` as it stands now, as plain values; empty where there is none."""
    file = paths.ROOT / "params" / f"{study}.yaml"
    return dict(read_yaml(file)) if file.exists() else {}


def plan_of(study: str) -> dict[str, Any]:
    """The plan in a params file; empty where there is none."""
    return dict(params_of(study).get("plan", {}))


def registrations(records: Iterable[Record], root: str = str(paths.ROOT)) -> list[Registration]:
    """The plans that records of one study were made under, the oldest first; none for records without a plan.

    ``root``: the repository whose history is read.
    """
    groups: dict[tuple[int, str], list[Record]] = {}
    for record in records:
        if plan := record.get("provenance", {}).get("plan"):
            groups.setdefault((int(plan["version"]), plan["sha256"]), []).append(record)
    found = []
    for (version, sha256), group in groups.items():
        study = str(group[0]["study"])
        first = first_form(f"params/{study}.yaml", sha256, root)
        started = [str(trial.get("started", "")) for record in group for trial in record["trials"]]
        found.append(Registration(study, version, first.name, first.date, min(started, default=""), len(group)))
    return sorted(found, key=lambda one: (one.version, one.first_run))


def commits(path: str, root: str = str(paths.ROOT)) -> list[Commit]:
    """Of a path, the oldest first (a copy or a renamed file begins anew); none without git or history."""
    lines = (paths.git("log", "--reverse", "--format=%H %cI", "--", path, root=root) or "").splitlines()
    return [Commit(name, date) for name, _, date in (line.partition(" ") for line in lines)]


def first_form(path: str, sha256: str, root: str) -> Commit:
    """The first commit that holds a file in the form of this hash; an empty one where the history has none."""
    for commit in commits(path, root):
        content = paths.git("show", f"{commit.name}:{path}", root=root) or ""
        if hashlib.sha256(content.encode()).hexdigest() == sha256:
            return commit
    return Commit("", "")


def began(record: Record) -> datetime:
    """When the training of a record had begun at the latest: when it was written minus its longest trial (trials may
    run side by side)."""
    seconds = max((sum(trial.get("seconds", {}).values()) for _, trial in trials_of([record])), default=0)
    return datetime.fromisoformat(record["provenance"]["date"]) - timedelta(seconds=seconds)


def of_rule(path: str, records: list[Record]) -> str:
    """A sentence: when the rule of a params file was committed, and whether before the training of the study's
    records."""
    arms = [record for record in records if record["kind"] == "trials"]
    cut_off = (paths.git("rev-parse", "--is-shallow-repository") or "").strip() != "false"
    found = [] if cut_off else commits(path)
    if not arms:
        return ""
    if not found:
        return f"When the rule of {path} was written is not known here: there is no history of the repository"
    rule, last, first_run = found[0], found[-1], min(map(began, arms))
    before = datetime.fromisoformat(rule.date) < first_run
    said = f"The rule of {path} was committed on {moment(rule.date)} ({rule.name[:7]}), "
    said += (
        "before the training of every record of this study" if before else "after records of this study: exploratory"
    )
    if last != rule and datetime.fromisoformat(last.date) > first_run:
        said += f"; the file has been changed since, last on {moment(last.date)} ({last.name[:7]})"
    return said
