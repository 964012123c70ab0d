"""A user's own study renamed or removed, in all its records: whenever it is stopped, a study is whole or gone."""

from __future__ import annotations

import shutil
from pathlib import Path

from actlab import paths
from actlab.errors import BadInput, check_name
from actlab.files import ASIDE, contents
from actlab.records.store import checksum, folder_of, is_name, load, save, where


def own_files(study: str) -> list[Path]:
    """The files of a study that may be renamed or removed: one that is not committed. No record is read.

    Raises:
        UnknownName: no such study.
        BadInput: its records are committed, or its folder is a link to one elsewhere.
    """
    own = paths.results()
    folders = {path.parent.name for path in own.glob(f"*/{paths.RECORDS}")}
    check_name("study", study, [name for name in folders if is_name(name)], paths.shown(own))
    if own == paths.ROOT / "results" and paths.git("ls-files", f"results/{study}"):
        raise BadInput(f"{where(study)} is committed: `git rm` or `git mv` it, and the pages that read it")
    _check_no_link(folder_of(study))
    return sorted(path for path in folder_of(study).rglob("*") if path.is_file())


def remove(study: str) -> None:
    """Its records, replays, texts and kept weights; trained networks stay in the cache."""
    own_files(study)
    gone = _beside(folder_of(study), "removed")
    folder_of(study).rename(gone)
    shutil.rmtree(gone)


def rename(study: str, name: str) -> None:
    """Its folder and, in every record, what says the study; replays follow their records' new checksums. All is written
    into a folder that nothing reads, which then takes its name; where that is done already, the old one is removed.

    Raises:
        BadInput: a study of that name is there, itself too, a link is among the files, or a run adds to them.
    """
    files, old, new = own_files(study), folder_of(study), folder_of(name)
    if new.exists() and new.samefile(old):  # else the old one, which is removed in the end, would be the new one
        raise BadInput(f"{where(study)} has that name already")
    for path in old.rglob("*"):
        _check_no_link(path)
    staged = _beside(new, "renamed")
    try:
        _write(old, staged, name)
        if own_files(study) != files:
            raise BadInput(f"{where(study)} was written to meanwhile: rename it when its run has ended")
        if not new.exists():
            staged.rename(new)
        elif _contents(new) != _contents(staged):  # else a call before this one was stopped here
            raise BadInput(f"{where(name)} is there already")
        remove(study)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _write(old: Path, staged: Path, name: str) -> None:
    """A study into a folder, each of its records as one of the study's new name."""
    shutil.copytree(old, staged)
    checksums: dict[str, str] = {}
    for path in sorted(staged.rglob(paths.RECORDS), key=lambda path: len(path.parts)):  # records before their replays
        inside = path.relative_to(staged)
        if {ASIDE, "failed"} & {*inside.parts}:  # no records
            continue
        before = load(old / inside)
        record = {**before, "study": name}
        of_record = before.get("record_checksum")  # of a replay
        if of_record in checksums:
            record["record_checksum"] = checksums[of_record]
        checksums[before["checksum"]] = checksum(record)
        path.unlink()
        save(path, record)


def _beside(folder: Path, state: str) -> Path:
    """Where a study's folder is written, or removed, out of every reader's sight; what was stopped there goes."""
    place = folder.with_name(f".{folder.name}.{state}")
    shutil.rmtree(place, ignore_errors=True)
    return place


def _check_no_link(path: Path) -> None:
    if path.is_symlink():
        raise BadInput(f"{paths.shown(path)} is a link: move its study, or remove it, by hand")


def _contents(folder: Path) -> list[str]:
    return contents(sorted(path for path in folder.rglob("*") if path.is_file()), folder)
