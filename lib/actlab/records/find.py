"""A record found by its name: study and configuration, with or without the hash."""

from __future__ import annotations

from pathlib import Path

from actlab.errors import BadInput, check_name
from actlab.records.settings import differing, kind_of, named
from actlab.records.store import load_study, path_of, studies, where


def find(name: str | Path) -> Path:
    """Find the file of a record.

    Args:
        name: its path; or study and configuration, ``repro-lite/charlm-gelu``, with or without the hash: of one that
            grew the largest.

    Raises:
        UnknownName: no such study, or no such configuration in it.
        BadInput: several configurations have this name; the message lists them with what tells them apart.
    """
    path = Path(name)
    if path.suffix == ".json":
        return path
    study, arm = path.parent.name, path.name
    if (file := path_of(study, arm)).is_file():
        return file
    check_name("study", study, studies(), f"{name}: a record is named as STUDY/CONFIGURATION")
    records = {record["arm"]: record for record in load_study(study) if kind_of(record)}
    check_name("configuration", arm, {arm_id.rpartition("-")[0] for arm_id in records}, where(study))
    matching = {arm_id: record for arm_id, record in records.items() if arm_id.rpartition("-")[0] == arm}
    if len(matching) > 1:
        names = differing(matching.values())
        listed = ", ".join(f"{arm_id} ({named(record, names)})" for arm_id, record in matching.items())
        raise BadInput(f"several configurations have this name: {listed}; give one with its hash")
    return path_of(study, *matching)
