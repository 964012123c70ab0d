"""The cache as files: what lies in it, how large it is, and what may go. Records lie elsewhere and stay."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from actlab import paths

PARTS = {
    "trials": "finished trials with their weights and predictions, snapshots, checkpoints",
    "tokens": "token shards of texts",
    "tables": "tables of large studies",
    "book": "executed pages",
    "logs": "what runs have said",
}
"""Folder in the cache -> what it holds; nothing else in it is ours to delete."""
DAY = 86_400


@dataclass(frozen=True)
class CacheFile:
    """One file."""

    part: str
    path: Path
    size: int
    """Bytes."""
    changed: float
    """Seconds since 1970."""


def files() -> Iterator[CacheFile]:
    """All of them, without locks and what is being written; links are not followed."""
    for part in PARTS:
        for folder, _, names in os.walk(paths.cache() / part):
            for path in (Path(folder) / name for name in sorted(names)):
                if path.suffix != ".lock" and path.name[0] != "." and not path.is_symlink():
                    with suppress(FileNotFoundError):  # a run that goes on has taken it away
                        found = path.stat()
                        yield CacheFile(part, path, found.st_size, found.st_mtime)


def older(days: float, now: float | None = None) -> list[CacheFile]:
    """Those that have not changed for so many days, without what a process trains now."""
    since = (time.time() if now is None else now) - days * DAY
    return [file for file in files() if file.changed <= since and not _in_use(file.path)]


def delete(file: CacheFile) -> bool:
    """Whether it is gone now; not where a process has begun to train it."""
    if _in_use(file.path):
        return False
    file.path.unlink(missing_ok=True)
    return True


def _in_use(path: Path) -> bool:
    """Whether a process trains the trial that a file is of."""
    trial = re.sub(r"(\.\d+)?\.(safetensors|checkpoint)$", "", path.name)
    return is_held(path.with_name(f"{trial}.lock"))


def is_held(lock: Path) -> bool:
    """Whether a process holds a lock."""
    if not lock.exists():
        return False
    try:
        with FileLock(lock, timeout=0):
            return False
    except Timeout:
        return True
