"""Folders of records as a whole: renamed or removed. Committed ones are left to git."""

from __future__ import annotations

import shutil
from pathlib import Path

from actlab import paths
from actlab.errors import BadInput, UnknownName
from actlab.files import ASIDE
from actlab.records import store


def of_a_user(study: str) -> list[Path]:
    """The files of a study that may be renamed or removed: one that is not committed.

    Raises:
        UnknownName: no such study.
        BadInput: its records are committed.
    """
    known = [folder.name for folder in paths.results().glob("*") if any(folder.glob("*.json"))]
    if study not in known:
        raise UnknownName("study", study, known, "results/")
    if paths.results() == paths.ROOT / "results" and paths.git("ls-files", f"results/{study}"):
        raise BadInput(f"results/{study} is committed: `git rm` or `git mv` it, and the pages that read it")
    return sorted(path for path in store.folder_of(study).rglob("*") if path.is_file())


def remove(study: str) -> None:
    """Its records, replays, texts and kept weights; trained networks stay in the cache."""
    of_a_user(study)
    shutil.rmtree(store.folder_of(study))


def rename(study: str, name: str) -> None:
    """Its folder and, in every record, what says the study; replays follow their records' new checksums.

    Raises:
        BadInput: a folder of that name is there.
    """
    files, old, new = of_a_user(study), store.folder_of(study), store.folder_of(name)
    if new.exists():
        raise BadInput(f"results/{name} is there already")
    checksums: dict[str, str] = {}
    try:
        for path in sorted(files, key=lambda path: len(path.parts)):  # records before their replays
            place = new / path.relative_to(old)
            if path.suffix != ".json" or ASIDE in place.parts:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place)
                continue
            record = {**(before := store.load(path)), "study": name}
            if (was := record.get("record_checksum")) in checksums:
                record["record_checksum"] = checksums[was]
            checksums[before["checksum"]] = store.checksum(record)
            store.save(place, record)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    shutil.rmtree(old)
