"""What was written before what: the commits of a params file, from the repository's history, against the dates in its
records."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from actlab import paths
from actlab.records.repeats import recorded_before, trials_of
from actlab.records.store import Record


@dataclass(frozen=True)
class Commit:
    """A commit: its short hash and when it was made."""

    name: str
    date: datetime


@cache
def git(*arguments: str) -> str | None:
    """Output of a git command in the repository; None where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=paths.ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def commits(path: str) -> list[Commit]:
    """Of a path, the oldest first (a copy or a renamed file begins anew); none where the history is not here or is cut
    off."""
    if git("rev-parse", "--is-shallow-repository") != "false":
        return []
    lines = (git("log", "--reverse", "--format=%h %cI", "--", path) or "").splitlines()
    return [Commit(name, datetime.fromisoformat(date)) for name, _, date in (line.partition(" ") for line in lines)]


def began(record: Record) -> datetime:
    """When the training of a record had begun at the latest: when it was written minus its longest trial (trials may
    run side by side)."""
    seconds = max((sum(trial.get("seconds", {}).values()) for _, trial in trials_of([record])), default=0)
    return datetime.fromisoformat(record["provenance"]["date"]) - timedelta(seconds=seconds)


def contains(record: Record, rule: Commit) -> bool:
    """Whether the code that made a record, as the process that trained it found it, had the rule's commit behind it."""
    return git("merge-base", "--is-ancestor", rule.name, str(record["provenance"]["git_commit"])) is not None


def of_rule(path: str, records: list[Record], others: list[Record]) -> str:
    """A sentence: when the rule of a params file was committed, whether before the study's training, and what of it was
    known by then.

    Before: the commit is an ancestor of the one that each record names, and older than its training.

    Args:
        path: of the params file, in the repository.
        records: of the study that it plans.
        others: of studies whose trials this one may repeat.
    """
    arms = [record for record in records if record["kind"] == "trials"]
    found = commits(path)
    if not found or not arms:
        return (
            ""
            if not arms
            else f"When the rule of {path} was written is not known here: there is no history of the repository"
        )
    rule, last = found[0], found[-1]
    before = all(rule.date < began(record) and contains(record, rule) for record in arms)
    said = f"The rule of {path} was committed on {_moment(rule.date)} ({rule.name}), "
    said += (
        "before the training of every record of this study" if before else "after records of this study: exploratory"
    )
    if last != rule and last.date > min(map(began, arms)):
        said += f"; the file has been changed since, last on {_moment(last.date)} ({last.name})"
    known = recorded_before(arms, others, rule.date)
    if known:
        named = ", ".join(f"{model} {activation}" for model, activation in known)
        said += f". Trials of the same settings and seeds had been recorded before it for {named}: what the rule says of these is exploratory"
    return said


def _moment(date: datetime) -> str:
    return f"{date.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
