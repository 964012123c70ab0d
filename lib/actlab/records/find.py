"""A record found by its name: study and configuration, with or without the hash."""

from __future__ import annotations

from pathlib import Path

from actlab.errors import BadInput, check_name
from actlab.records.settings import kind_of
from actlab.records.store import load_study, path_of, studies, where


def find(name: str | Path) -> Path:
    """Find the file of a record.

    Args:
        name: its path; or study and configuration, ``repro-lite/charlm-gelu``, with or without the hash: of one that
            grew the largest.

    Raises:
        UnknownName: no such study, or no such configuration in it.
        BadInput: several configurations have this name; the message lists them.
    """
    path = Path(name)
    if path.suffix == ".json":
        return path
    study, arm = path.parent.name, path.name
    if (file := path_of(study, arm)).is_file():
        return file
    check_name("study", study, studies(), f"{name}: a record is named as STUDY/CONFIGURATION")
    names = {record["arm"]: record["arm"].rpartition("-")[0] for record in load_study(study) if kind_of(record)}
    check_name("configuration", arm, {*names.values()}, where(study))
    first, *others = (arm_id for arm_id, short in names.items() if short == arm)
    if others:
        raise BadInput(f"several configurations have this name, give one with its hash: {', '.join([first, *others])}")
    return path_of(study, first)
