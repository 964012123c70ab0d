"""Registered plans: which version of a params file a record was made under, and whether it was committed before the
training began.

Read from the repository's history: a record carries the hash of the params file that held its plan, and when each of
its trials started.
"""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import yaml

from actlab import paths

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Registration:
    """One version of a plan, and the first training of the records that were made under it."""

    study: str
    version: int
    sha256: str
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
    return dict(yaml.safe_load(file.read_text(encoding="utf-8"))) if file.exists() else {}


def plan_of(study: str) -> dict[str, Any]:
    """The plan in a params file; empty where there is none."""
    return dict(params_of(study).get("plan", {}))


def registrations(records: Iterable[Record], root: str | None = None) -> list[Registration]:
    """The plans that records of one study were made under, the oldest first; none for records without a plan.

    ``root``: the repository whose history is read, this one unless given.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        if plan := record.get("provenance", {}).get("plan"):
            groups.setdefault(plan["sha256"], []).append(record)
    found = [_registration(sha256, group, root or str(paths.ROOT)) for sha256, group in groups.items()]
    return sorted(found, key=lambda one: (one.version, one.first_run))


def _registration(sha256: str, records: list[Record], root: str) -> Registration:
    study, version = str(records[0]["study"]), int(records[0]["provenance"]["plan"]["version"])
    commit, committed = history(f"params/{study}.yaml", root).get(sha256, ("", ""))
    started = [str(trial.get("started", "")) for record in records for trial in record["trials"]]
    return Registration(study, version, sha256, commit, committed, min(started, default=""), len(records))


def history(file: str, root: str) -> dict[str, tuple[str, str]]:
    """sha256 of each form that a file has had -> (the first commit that holds it, when that was committed).

    Empty without git or history.
    """
    found: dict[str, tuple[str, str]] = {}
    for line in _git(root, "log", "--reverse", "--format=%H %cI", "--", file).decode().splitlines():
        commit, date = line.split()
        content = _git(root, "show", f"{commit}:{file}")
        found.setdefault(hashlib.sha256(content).hexdigest(), (commit, date))
    return found


def _git(root: str, *arguments: str) -> bytes:
    try:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""
