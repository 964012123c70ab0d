"""Records: one JSON file an arm, written once, checked by a checksum; found by its name, a user's own folder renamed or
removed. No torch; knows nothing of how a record came about."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

from actlab import paths
from actlab.errors import BadInput, DamagedRecord, RecordError, UnknownName, brief
from actlab.files import ASIDE, read_bytes, set_aside, write_text
from actlab.records.schema import MARKUP, check_plain, check_record
from actlab.records.settings import CELLS, by_content, current, differing, named, versions_apart

Record = dict[str, Any]
READS = "ACTLAB_READS"
"""Environment variable of a page that is executed for the book: the studies that it says it reads, with spaces between
them."""


def canonical(content: object) -> str:
    """The one JSON text of a value: keys sorted, no spaces."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))


def digest(content: object) -> str:
    """sha256 of the canonical JSON text."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def checksum(record: Record) -> str:
    """Of everything in a record but the checksum itself."""
    return digest(_content(record))


def _content(record: Record) -> Record:
    return {key: value for key, value in record.items() if key != "checksum"}


def folder_of(study: str) -> Path:
    """``results/<study>``.

    Raises:
        RecordError: the page that is being executed does not say that it reads this study, so that it would not follow
        the study's records.
    """
    named = os.environ.get(READS)
    if named is not None and study not in named.split():
        raise RecordError(
            f"the page reads results/{study}, but its entry in book/pages.yaml names only: {named or 'nothing'}"
        )
    return paths.results() / study


def path_of(study: str, arm_id: str) -> Path:
    """``results/<study>/<arm>-<hash>.json``."""
    return folder_of(study) / f"{arm_id}.json"


def save(path: Path, record: Record) -> Path:
    """Write a record with its checksum.

    Raises:
        RecordError: another record is already there (a result is never rewritten).
    """
    record = {**record, "checksum": checksum(record)}
    if path.exists():
        if load(path)["checksum"] == record["checksum"]:
            return path
        raise RecordError(f"{path} holds a different result; move it away to record this one")
    write_text(path, json.dumps(record, indent=1) + "\n")
    return path


def load(path: Path) -> Record:
    """Read a record.

    Raises:
        RecordError: it cannot be read, or has not the shape of its kind: whoever reads it from here on need not ask.
        DamagedRecord: it is not JSON, its content does not fit its checksum, or it lies under another's name.
    """
    try:
        record = json.loads(read_bytes(path, "record").decode())
        text = canonical(_content(record)) if isinstance(record, dict) else ""
    except OSError as error:
        raise RecordError(f"{path} cannot be read as a record: {error}") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # not UTF-8, not JSON, a number of thousands of digits, brackets in brackets
        raise DamagedRecord(path, f"it cannot be read as a record: {error}") from error
    if not isinstance(record, dict) or "checksum" not in record:
        raise DamagedRecord(path, "it is not a record: it has no checksum")
    if record["checksum"] != (found := hashlib.sha256(text.encode()).hexdigest()):
        raise DamagedRecord(
            path, f"it was changed after it was written: expected checksum {brief(record['checksum'])}, found {found}"
        )
    _check_place(path, record)
    check_record(record)
    if MARKUP.search(text):
        check_plain(record)
    return record


def _check_place(path: Path, record: Record) -> None:
    """``DamagedRecord`` where a file's name and folder say what the record in it does not. An arm's name ends in the
    hash of its settings."""
    kind, arm, study = (record.get(key) for key in ("kind", "arm", "study"))
    folder, name = path.absolute().parent, arm
    if kind in list(CELLS):
        name = path.stem
    elif kind == "replay":
        folder, name = folder.parent.parent, folder.name
    elif kind == "text":
        folder, name = folder.parent, path.stem
    if arm != name:
        raise DamagedRecord(path, f"it is the record of {brief(arm)}, not of {brief(name)}")
    config = record.get("config")
    own = digest(by_content(config) if isinstance(config, dict) else config)[:10]
    if kind in list(CELLS) and not str(arm).endswith(f"-{own}"):
        raise DamagedRecord(path, f"the name of {brief(arm)} does not end in {own}, the hash of its settings")
    if folder.parent == paths.results() and folder.name != study:
        raise DamagedRecord(path, f"it is a record of the study {brief(study)}, not of {brief(folder.name)}")


def replays_of(path: Path) -> Path:
    """Folder of the history of a record's replays: one file each, so that none is lost when several are written at once
    or on several machines."""
    return path.parent / "replays" / path.stem


def load_replays(study: str) -> list[Record]:
    """Every replay of a study's trials, in the order of arms and labels."""
    return [load(path) for path in sorted((folder_of(study) / "replays").glob("*/*.json"))]


def load_texts(study: str) -> list[Record]:
    """What models of a study wrote (`actlab sample --keep`), in the order of the file names."""
    return [load(path) for path in sorted((folder_of(study) / "texts").glob("*.json"))]


def load_study(study: str) -> list[Record]:
    """The records of a study, in the order of the file names; none for a study without results.

    Where an arm has grown, the record with more trials stands for it, and the smaller one, which it contains, is left
    out. An own activation that was changed and run again is two, each named by its version. A file is read again only
    where it has changed: do not change what is in a record.
    """
    return versions_apart(current([_read(path, *_state(path)) for path in sorted(folder_of(study).glob("*.json"))]))


@lru_cache(maxsize=512)
def _read(path: Path, time: int, size: int) -> Record:
    """``load`` of a file in a state of it."""
    return load(path)


def _state(path: Path) -> tuple[int, int]:
    """Time (ns) and size (bytes)."""
    try:
        found = path.stat()
    except OSError:  # of which ``load`` says what it is
        return 0, 0
    return found.st_mtime_ns, found.st_size


def set_damaged_aside(study: str) -> list[Path]:
    """Move a study's damaged records into ``set-aside``, so that their arms count as not recorded; their new places."""
    found = []
    for path in sorted(folder_of(study).glob("*.json")):
        try:
            load(path)
        except DamagedRecord:
            found.append(set_aside(path))
    return found


def _studies() -> list[str]:
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
        raise UnknownName("study", study, _studies(), f"{name}: a record is named as STUDY/CONFIGURATION")
    if not arm:
        raise BadInput(f"{name} is a study: name one of its configurations, such as {study}/{known[0]}")
    found = [file for file in files if arm in (file.stem, file.stem.rpartition("-")[0])]
    if not found:
        near = [other for other in known if other.startswith(arm)]
        raise UnknownName("configuration", arm, near or known, f"results/{study}")
    return found[0] if len(found) == 1 else _largest(found)


def _largest(files: list[Path]) -> Path:
    """The record that contains the others."""
    records = {file: load(file) for file in files}
    left = current(records.values())
    if len(left) == 1:
        return next(file for file, record in records.items() if record is left[0])
    names = differing(left)
    told = (f"{file.stem} ({named(record, names)})" for file, record in records.items() if record in left)
    raise BadInput(f"several configurations have this name: {', '.join(told)}; give one with its hash")


def own_files(study: str) -> list[Path]:
    """The files of a study that may be renamed or removed: one that is not committed.

    Raises:
        UnknownName: no such study.
        BadInput: its records are committed.
    """
    if study not in (known := _studies()):
        raise UnknownName("study", study, known, "results/")
    if paths.results() == paths.ROOT / "results" and paths.git("ls-files", f"results/{study}"):
        raise BadInput(f"results/{study} is committed: `git rm` or `git mv` it, and the pages that read it")
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
        raise BadInput(f"results/{name} is there already")
    checksums: dict[str, str] = {}
    try:
        for path in sorted(files, key=lambda path: len(path.parts)):  # records before their replays
            place = new / path.relative_to(old)
            if path.suffix != ".json" or ASIDE in place.parts:
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
