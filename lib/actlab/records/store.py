"""Records: one JSON file an arm, written once, checked by a checksum; of a study those that count. No torch; knows
nothing of how a record came about."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from actlab import paths
from actlab.errors import LIMITS, BadInput, DamagedRecord, RecordError, brief
from actlab.files import read_bytes, set_aside, state_of, write_text
from actlab.records.schema import NAME, check_content, check_record
from actlab.records.settings import by_content, cell_of, grouped, kind_of, labels_of, without_trials
from actlab.records.strict import in_json, with_numbers

Record = dict[str, Any]
ONE_TEXT: dict[str, Any] = {"sort_keys": True, "separators": (",", ":")}
"""How ``json.dumps`` gives every value one text alone: keys sorted, no spaces."""
BELOW = {"text": 1, "replay": 2}
"""Kind of record -> how many folders below its study's it lies; others lie in it."""


def canonical(content: object) -> str:
    """The one JSON text of a value, with ``null`` for a number that is not finite."""
    return in_json(content, **ONE_TEXT)


def digest(content: object) -> str:
    """sha256 of the canonical JSON text."""
    return _sha256(canonical(content))


def checksum(record: Record) -> str:
    """Of everything in a record but the checksum itself."""
    return digest(_unsealed(record))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _unsealed(record: Record) -> Record:
    return {key: value for key, value in record.items() if key != "checksum"}


def folder_of(study: str) -> Path:
    """``results/<study>`` (``paths.records_of``)."""
    return paths.records_of(study)


def where(study: str) -> str:
    """A study's folder, for messages."""
    return paths.shown(paths.records_of(study))


def is_name(study: str) -> bool:
    """Whether it can be a study's, as records have it: a path, or nothing, would lead out of the results, and a folder
    whose name begins with a dot is being renamed or removed."""
    return isinstance(study, str) and re.fullmatch(NAME, study) is not None


def path_of(study: str, arm_id: str) -> Path:
    """``results/<study>/<arm>-<hash>.json``."""
    return folder_of(study) / f"{arm_id}.json"


def save(path: Path, record: Record) -> Path:
    """Write a record with its checksum, as JSON that every reader takes (``strict``).

    Raises:
        RecordError: another record is already there (a result is never rewritten).
    """
    record = {**record, "checksum": checksum(record)}
    text = in_json(record, indent=1) + "\n"
    if len(text) > LIMITS["record"]:
        raise RecordError(f"{path} would have {len(text):,} bytes: a record has {LIMITS['record']:,} at most")
    if not path.exists():
        return write_text(path, text)
    if checksum(load(path)) != record["checksum"]:
        raise RecordError(f"{path} holds a different result; move it away to record this one")
    return path


def load(path: Path) -> Record:
    """Read a record; a number that its file has no word for is NaN.

    Raises:
        RecordError: it cannot be read, or has not the shape of its kind: whoever reads it from here on need not ask.
        DamagedRecord: it is not JSON, its content does not fit its checksum, or it lies under another's name.
    """
    try:
        record = json.loads(read_bytes(path, "record").decode())
        if not isinstance(record, dict) or "checksum" not in record:
            raise DamagedRecord(path, "it is not a record: it has no checksum")
        text = json.dumps(_unsealed(record), **ONE_TEXT)  # a bare NaN stays one: version 0.1 wrote it
        record = with_numbers(record)
    except (OSError, BadInput) as error:
        raise RecordError(f"{path} cannot be read as a record: {error}") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, thousands of digits, brackets in brackets
        raise DamagedRecord(path, f"it cannot be read as a record: {error}") from error
    if (actual := _sha256(text)) != record["checksum"]:
        expected = brief(record["checksum"])
        raise DamagedRecord(path, f"it was changed after it was written: expected checksum {expected}, found {actual}")
    _check_place(path.absolute(), record)
    check_content(record, text)
    check_record(record)
    return record


def _check_place(path: Path, record: Record) -> None:
    """``DamagedRecord`` where a file's name and folder say what the record in it does not. An arm's name ends in the
    hash of its settings."""
    kind, arm, study, config = (record.get(key) for key in ("kind", "arm", "study", "config"))
    name = path.parent.name if kind == "replay" else path.stem
    if arm not in (None, name):
        raise DamagedRecord(path, f"it is the record of {brief(arm)}, not of {brief(name)}")
    if isinstance(config, dict):
        own = digest(by_content(config))[:10]
        if not name.endswith(f"-{own}"):
            raise DamagedRecord(path, f"the name of {brief(arm)} does not end in {own}, the hash of its settings")
    folder = path.parents[BELOW.get(str(kind), 0)]
    if folder.parent == paths.results() and folder.name != study:
        raise DamagedRecord(path, f"it is a record of the study {brief(study)}, not of {brief(folder.name)}")


def studies() -> list[str]:
    """Studies with a record of trials, or a damaged one, which whoever reads that study is told of."""
    return [name for name in folders() if any(map(_may_hold_trials, folder_of(name).glob(paths.RECORDS)))]


def folders() -> list[str]:
    """Every folder that may hold a study's records."""
    return sorted(folder.name for folder in paths.results().glob("*") if folder.is_dir() and is_name(folder.name))


def _may_hold_trials(path: Path) -> bool:
    try:
        return bool(kind_of(load(path)))
    except RecordError:
        return True


def replays_of(path: Path) -> Path:
    """Folder of the history of a record's replays: one file each, so that none is lost when several are written at once
    or on several machines."""
    return path.parent / "replays" / path.stem


def load_replays(study: str) -> list[Record]:
    """Every replay of a study's trials, in the order of arms and labels."""
    return [load(path) for path in _kept(study, f"replays/*/{paths.RECORDS}")]


def load_texts(study: str) -> list[Record]:
    """What models of a study wrote (`actlab sample --keep`), in the order of the file names."""
    return [load(path) for path in _kept(study, f"texts/{paths.RECORDS}")]


def _kept(study: str, files: str) -> list[Path]:
    """What is kept beside the records of a study, and in the project, where those are actlab's."""
    found: list[Path] = []
    for place in {folder_of(study), paths.results() / study}:
        found += place.glob(files)
    return sorted(found, key=lambda path: path.parts[-2:])


def load_study(study: str) -> list[Record]:
    """The records of a study, in the order of the file names; none for a study without results.

    Where an arm has grown, the record with more trials stands for it, and the smaller one, which it contains, is left
    out. An own activation that was changed and run again is two, each named by its version. A file is read again only
    where it has changed: do not change what is in a record.
    """
    records = []
    for path in sorted(folder_of(study).glob(paths.RECORDS)):
        state = state_of(path)
        records.append(_unchanged(path, state.st_mtime_ns, state.st_size))
    return _versions_named(current(records))


@lru_cache(maxsize=4096)  # less than the records of a study would hold none of them until they are asked for again
def _unchanged(path: Path, time: int, size: int) -> Record:
    """``load`` of a file in a state of it."""
    return load(path)


def current(records: Iterable[Record]) -> list[Record]:
    """The records without those that a larger one stands for: of the same settings, with the same trials and more, or
    with more that was measured of them."""
    every = list(records)
    superseded = set[int]()
    for same in grouped(filter(kind_of, every), _settings):
        for small in same:
            if any(_stands_for(large, small) for large in same):
                superseded.add(id(small))
    return [record for record in every if id(record) not in superseded]


def _settings(record: Record) -> str:
    """Of one arm the same, however many trials it has."""
    return canonical([record["kind"], cell_of(record), without_trials(record["config"])])


def _stands_for(large: Record, small: Record) -> bool:
    """Whether a record has every trial of another one of its settings, and more; of those of equal trials (a metric
    whose source was changed, another that was left out) the later one counts, which says what it supersedes."""
    mine, theirs = {*labels_of(large)}, {*labels_of(small)}
    if theirs != mine:
        return theirs < mine
    later = small["arm"] in large.get("supersedes", ())
    earlier = large["arm"] in small.get("supersedes", ())
    if later != earlier:
        return later
    return _measured(large) > _measured(small)


def _measured(record: Record) -> tuple[int, int]:
    """How much of its trials an arm has: sizes of ensembles, own metrics."""
    config = record["config"]
    return len(config.get("ensembles", ())), len(config.get("metrics") or ())


def _versions_named(records: list[Record]) -> list[Record]:
    """The records, where an own activation is recorded in several versions each with its hash behind its name."""
    versions = {(record["activation"], _version(record)) for record in records if kind_of(record)}
    count = Counter(name for name, _ in versions)
    named = []
    for record in records:
        version = _version(record)
        if version and count[record["activation"]] > 1:
            record = {**record, "activation": f"{record['activation']} {version[:8]}"}
        named.append(record)
    return named


def _version(record: Record) -> str:
    """The hash of an own activation; empty of a built-in one, and where none is."""
    return str(record.get("config", {}).get("parts", {}).get("activation", ""))


def set_damaged_aside(study: str) -> list[Path]:
    """Move a study's damaged records into ``set-aside``, so that their arms count as not recorded; their new places."""
    moved = []
    for path in sorted(folder_of(study).glob(paths.RECORDS)):
        try:
            load(path)
        except DamagedRecord:
            moved.append(set_aside(path))
    return moved
