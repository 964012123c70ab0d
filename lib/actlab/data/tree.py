"""One hash for the files of a folder, however they are packed; setup.py runs this file alone."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def sha256_of_files(folder: Path, names: Iterable[str] | None = None) -> str:
    """sha256 of a line a file, its sha256 and its name below the folder, in the order of the names; ``names``: of these
    files, else of all."""
    every = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in sorted(names or every)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
