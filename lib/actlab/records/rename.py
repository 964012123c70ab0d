"""A user's own study renamed or removed, in all its records."""

from __future__ import annotations

import shutil
from pathlib import Path

from actlab import paths
from actlab.errors import BadInput, check_name
from actlab.files import ASIDE
from actlab.records.store import checksum, folder_of, load, save, where


def own_files(study: str) -> list[Path]:
    """The files of a study that may be renamed or removed: one that is not committed. No record is read.

    Raises:
        UnknownName: no such study.
        BadInput: its records are committed.
    """
    own = paths.results()
    check_name("study", study, {path.parent.name for path in own.glob("*/*.json")}, paths.shown(own))
    if own == paths.ROOT / "results" and paths.git("ls-files", f"results/{study}"):
        raise BadInput(f"{where(study)} is committed: `git rm` or `git mv` it, and the pages that read it")
    return sorted(path for path in folder_of(study).rglob("*") if path.is_file())


def remove(study: str) -> None:
    """Its records, replays, texts and kept weights; trained networks stay in the cache."""
    own_files(study)
    shutil.rmtree(folder_of(study))


def rename(study: str, name: str) -> None:
    """Its folder and, in every record, what says the study; replays follow their records' new checksums.

    Raises:
        BadInput: a folder of that name is there.
    """
    files, old, new = own_files(study), folder_of(study), folder_of(name)
    if new.exists():
        raise BadInput(f"{where(name)} is there already")
    checksums: dict[str, str] = {}
    try:
        for path in sorted(files, key=lambda path: len(path.parts)):  # records before their replays
            place = new / (inside := path.relative_to(old))
            if path.suffix != ".json" or {ASIDE, "failed"} & {*inside.parts}:  # no records
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, place)
                continue
            record = {**(before := load(path)), "study": name}
            if (was := record.get("record_checksum")) in checksums:
                record["record_checksum"] = checksums[was]
            checksums[before["checksum"]] = checksum(record)
            save(place, record)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    shutil.rmtree(old)
