"""Records: one JSON file an arm, written once, checked by a checksum; of a study those that count. No torch; knows
nothing of how a record came about."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from typing import Any

from actlab import paths
from actlab.errors import BadInput, DamagedFile, RecordError, check_name
from actlab.files import write_text
from actlab.records.schema import check_record
from actlab.records.settings import cell_of, grouped, kind_of, labels_of, without_trials
from actlab.records.strict import in_json, with_numbers

Record = dict[str, Any]
ARMS = f"[!.]*-{'[0-9a-f]' * 10}.json"
"""Pattern of the files of arms (and of baselines): their names end in a hash."""


def canonical(content: object) -> str:
    """Write a value as its one JSON text: keys sorted, no spaces, ``null`` for a number that is not finite."""
    return in_json(content, sort_keys=True, separators=(",", ":"))


def digest(content: object) -> str:
    """Return the sha256 of the canonical JSON text."""
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def checksum(record: Record) -> str:
    """Return the hash of everything in a record but the checksum itself."""
    return digest({key: value for key, value in record.items() if key != "checksum"})


def folder_of(study: str) -> Path:
    """Return ``results/<study>``, the folder of a study's records."""
    return paths.results() / study


def where(study: str) -> str:
    """Return a study's folder, for messages."""
    return paths.shown(folder_of(study))


def path_of(study: str, arm_id: str) -> Path:
    """Return ``results/<study>/<arm>-<hash>.json``."""
    return folder_of(study) / f"{arm_id}.json"


def save(path: Path, record: Record) -> Path:
    """Write a record with its checksum, as JSON that every reader takes (``strict``).

    Raises:
        RecordError: another record is already there (a result is never rewritten).
    """
    record = {**record, "checksum": checksum(record)}
    if not path.exists():
        return write_text(path, in_json(record, indent=1) + "\n")
    if checksum(load(path)) != record["checksum"]:
        raise RecordError(f"{path} holds a different result; move it away to record this one")
    return path


def load(path: Path) -> Record:
    """Read a record; a number that its file has no word for is NaN.

    Raises:
        RecordError: the file cannot be read, or has not the shape of its kind.
        DamagedFile: it is no JSON, or its content does not fit its checksum.
    """
    try:
        record = json.loads(path.read_bytes())
        expected = record.pop("checksum")
        actual = checksum(record)
    except OSError as error:
        raise RecordError(f"{path} cannot be read as a record: {error}") from error
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        raise DamagedFile(path, f"it cannot be read as a record: {error!r}") from error
    if actual != expected:
        raise DamagedFile(path, f"it was changed after it was written: its checksum is not {actual}")
    record = with_numbers(record) | {"checksum": expected}
    check_record(record, str(path))
    return record


def studies() -> list[str]:
    """List the studies that have a record of trials, whether it can be read or not."""
    return sorted(folder.name for folder in paths.results().glob("[!.]*") if arm_files(folder.name))


def arm_files(study: str) -> list[Path]:
    """List the files of a study's arms, in the order of their names."""
    return sorted(path for path in folder_of(study).glob(ARMS) if not path.name.startswith("baseline-"))


def load_below(study: str, folder: str) -> list[Record]:
    """Load the records in a folder of a study, in the order of their files: ``replays`` of its trials, ``texts`` that
    its models wrote."""
    return [load(path) for path in sorted(folder_of(study).glob(f"{folder}/**/{paths.RECORDS}"))]


def load_study(study: str) -> list[Record]:
    """Load the records of a study, in the order of the file names; none for a study without results.

    Where an arm has grown, the record with more trials stands for it, and the smaller one, which it contains, is left
    out.

    Raises:
        RecordError: a record cannot be read.
    """
    files = sorted(folder_of(study).glob(paths.RECORDS))
    return current(map(load_once, files))


def load_once(path: Path) -> Record:
    """Load a record, again only where its file has changed: do not change what is in it."""
    state = path.stat()
    return _unchanged(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4096)  # less than the records of a study would hold none of them until they are asked for again
def _unchanged(path: Path, time: int, size: int) -> Record:
    """Load the record in a file, as long as the file is the same."""
    return load(path)


def current(records: Iterable[Record]) -> list[Record]:
    """Leave out the records that a larger one stands for: of the same settings, with the same trials and more, or with
    more that was measured of them (sizes of ensembles, own metrics)."""
    records, superseded = list(records), set[int]()

    def settings(record: Record) -> str:
        return canonical([record["kind"], cell_of(record), without_trials(record["config"])])

    def measures(record: Record) -> tuple[int, int]:
        return len(record["config"].get("ensembles", ())), len(record["config"].get("metrics") or ())

    for same in grouped(filter(kind_of, records), settings):
        for small, large in permutations(same, 2):
            trials, others = {*labels_of(small)}, {*labels_of(large)}
            if trials < others or (trials == others and measures(small) < measures(large)):
                superseded.add(id(small))
    return [record for record in records if id(record) not in superseded]


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
