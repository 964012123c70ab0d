"""A record by its name: `repro-lite/charlm-gelu`, or the path of its file."""

from __future__ import annotations

from pathlib import Path

from actlab import paths
from actlab.errors import BadInput, UnknownName
from actlab.records import settings, store


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
    files = sorted(store.folder_of(study).glob("*-*.json"))
    names = dict.fromkeys(file.stem.rpartition("-")[0] for file in files)
    known = [name for name in names if not name.startswith("baseline-") and not name.endswith("-floor")]
    if not known:
        studies = {folder.name for folder in paths.results().glob("*") if any(folder.glob("*.json"))}
        raise UnknownName("study", study, studies, f"{name}: a record is named as STUDY/CONFIGURATION")
    if not arm:
        raise BadInput(f"{name} is a study: name one of its configurations, such as {study}/{known[0]}")
    found = [file for file in files if arm in (file.stem, file.stem.rpartition("-")[0])]
    if not found:
        near = [other for other in known if other.startswith(arm)]
        raise UnknownName("configuration", arm, near or known, f"results/{study}")
    return found[0] if len(found) == 1 else _largest(found)


def _largest(files: list[Path]) -> Path:
    """The record that contains the others."""
    records = {file: store.load(file) for file in files}
    left = settings.current(records.values())
    if len(left) == 1:
        return next(file for file, record in records.items() if record is left[0])
    names = settings.differing(left)
    told = (f"{file.stem} ({settings.named(record, names)})" for file, record in records.items() if record in left)
    raise BadInput(f"several configurations have this name: {', '.join(told)}; give one with its hash")
