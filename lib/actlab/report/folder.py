"""The files of a report in their folder, and the list of them that lies beside them. What a report did not write, or
what was changed since, is never deleted or overwritten."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from actlab.errors import BadInput
from actlab.files import read_text, write_bytes, write_text

LIST = "report.sha256"
"""Name of the list: after its first line as `sha256sum` writes it, and can check it."""
FIRST = "# what `actlab report` wrote here"
LINE = re.compile(r"([0-9a-f]{64})  ([\w,.=+-]+)")


def write(out: Path, files: Iterable[tuple[str, bytes]]) -> Iterator[Path]:
    """Write files into a folder and yield each; what an earlier report left there goes.

    Raises:
        BadInput: a file of that name is there that no report wrote.
    """
    ours, written = _ours(out), dict[str, str]()
    for name, content in files:
        path = out / name
        if os.path.lexists(path):
            if name not in ours:
                raise BadInput(
                    f"{path} is no file of a report, or was changed since: move it away, or name another folder (--out)"
                )
            path.unlink()
        written[name] = sha256(content).hexdigest()
        _list(out, ours | written)
        yield write_bytes(path, content)
    for name in ours.keys() - written.keys():
        (out / name).unlink()
    _list(out, written)


def _ours(out: Path) -> dict[str, str]:
    """Name -> sha256 of what an earlier report wrote there and nobody has changed, to the byte."""
    path = out / LIST
    if not os.path.lexists(path):
        return {}
    first, *lines = read_text(path).splitlines() or [""]
    found = [LINE.fullmatch(line) for line in lines]
    if first != FIRST or path.is_symlink() or None in found:
        raise BadInput(f"{path} is no list of a report's files: move it away, or name another folder (--out)")
    return {line[2]: line[1] for line in found if line and _digest(out / line[2]) == line[1]}


def _digest(path: Path) -> str:
    """Of a regular file; empty of anything else."""
    return sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""


def _list(out: Path, written: Mapping[str, str]) -> None:
    write_text(out / LIST, "\n".join([FIRST, *(f"{digest}  {name}" for name, digest in written.items()), ""]))
