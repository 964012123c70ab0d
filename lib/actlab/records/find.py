"""A record found by its name: study and configuration, with or without the hash."""

from __future__ import annotations

from pathlib import Path

from actlab import paths
from actlab.errors import BadInput, UnknownName
from actlab.records.settings import differing, named
from actlab.records.store import current, folder_of, load


def studies() -> list[str]:
    """Folders with records."""
    return [folder.name for folder in paths.results().glob("*") if any(folder.glob("*.json"))]


def find(name: str | Path) -> Path:
    """The file of a record.

    Args:
        name: its path; or study and configuration, ``repro-lite/charlm-gelu``, with or without the hash: of one that
            grew the largest.

    Raises:
        UnknownName: no such study, or no such configuration in it.
        BadInput: several configurations have this name; the message lists them with what tells them apart.
    """
    path, parts = Path(name), Path(name).parts
    study, arm = (parts[-2], parts[-1].removesuffix(".json")) if len(parts) > 1 else (parts[0], "")
    if path.is_file() or path.suffix == ".json" or len(parts) > 3 or (len(parts) == 3 and parts[0] != "results"):
        return path
    files = sorted(folder_of(study).glob("*-*.json"))
    names = dict.fromkeys(file.stem.rpartition("-")[0] for file in files)
    known = [name for name in names if not name.startswith("baseline-") and not name.endswith("-floor")]
    if not known:
        raise UnknownName("study", study, studies(), f"{name}: a record is named as STUDY/CONFIGURATION")
    if not arm:
        raise BadInput(f"{name} is a study: name one of its configurations, such as {study}/{known[0]}")
    matching = [file for file in files if arm in (file.stem, file.stem.rpartition("-")[0])]
    if not matching:
        near = [other for other in known if other.startswith(arm)]
        raise UnknownName("configuration", arm, near or known, f"results/{study}")
    return matching[0] if len(matching) == 1 else _largest(matching)


def _largest(files: list[Path]) -> Path:
    """The record that contains the others."""
    records = {file: load(file) for file in files}
    left = current(records.values())
    if len(left) == 1:
        return next(file for file, record in records.items() if record is left[0])
    names = differing(left)
    listed = (f"{file.stem} ({named(record, names)})" for file, record in records.items() if record in left)
    raise BadInput(f"several configurations have this name: {', '.join(listed)}; give one with its hash")
