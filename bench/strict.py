"""`python -m bench.strict [STUDY ...]`: records that an earlier version wrote with bare NaN, which JSON has not, as
strict JSON, in place: before they are committed, and once for those that were.

Values stay: what reads as NaN is null, and the checksum is that of the new text; replays name their record's new one.
Prints a line a file, `path,sha256 before,sha256 after`; a file that is strict already is left alone.
"""

import hashlib
import json
import sys
from pathlib import Path

from actlab import paths
from actlab.files import ASIDE, write_text
from actlab.records import store
from actlab.records.strict import in_json


def records_below(folder: Path) -> list[Path]:
    """The records and replays of a study, records before their replays; no failures, and nothing that is set aside."""
    found = [path for path in sorted(folder.rglob("*.json")) if not {ASIDE, "failed"} & {*path.parts}]
    return sorted(found, key=lambda path: len(path.parts))


def strict(folder: Path) -> dict[Path, tuple[str, str]]:
    """Make the records of a study strict; file -> its sha256 before and after, of those that changed."""
    changed: dict[Path, tuple[str, str]] = {}
    checksums: dict[str, str] = {}
    for path in records_below(folder):
        store.load(path)  # refused whole where it is damaged
        before = path.read_text(encoding="utf-8")
        record = json.loads(before)
        was = record["checksum"]
        if (of := record.get("record_checksum")) in checksums:
            record["record_checksum"] = checksums[of]
        record["checksum"] = checksums[was] = store.checksum(record)
        after = in_json(record, indent=1) + "\n"
        if after != before:
            write_text(path, after)
            store.load(path)
            changed[path] = (sha256(before), sha256(after))
    return changed


def sha256(text: str) -> str:
    """Of a file's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def main(studies: list[str]) -> None:
    """Of some studies, or of all."""
    for study in studies or sorted(folder.name for folder in paths.results().iterdir() if folder.is_dir()):
        for path, (before, after) in strict(paths.results() / study).items():
            print(f"{path.relative_to(paths.results()).as_posix()},{before},{after}")


if __name__ == "__main__":
    main(sys.argv[1:])
