"""When is an executed page stale? Hashes of everything that it depends on, by kind, so that the reason can be told."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

import actlab
from actlab.records import store
from actlab.book.pages import Page

PACKAGE = Path(actlab.__file__).resolve().parent
BUILT = "_build"
"""Where the built pages lie, below ``book/``."""
SOURCES = (".py", ".js", ".css", ".mplstyle", ".sha256")

Key = dict[str, str]
"""Hash of the notebook, the parameters, the records (and whatever else is read), the code and the versions."""


def digest(files: Iterable[tuple[str, Path]]) -> str:
    """sha256 over names and contents."""
    total = hashlib.sha256()
    for name, path in files:
        total.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def code_key(package: Path = PACKAGE) -> str:
    """Of the package's sources."""
    found = sorted(path for path in package.rglob("*") if path.suffix in SOURCES)
    return digest((path.relative_to(package).as_posix(), path) for path in found)


@cache
def versions_key() -> str:
    """Of Python and of the packages that actlab itself asks for."""
    wanted = [line for line in metadata.requires("actlab") or [] if "extra ==" not in line]
    names = sorted(re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in wanted)
    return store.digest([platform.python_version(), *(f"{name}=={_version(name)}" for name in names)])


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "absent"


def key_of(page: Page, code: str) -> Key:
    """Everything that the page depends on. ``code`` is ``code_key()``, taken once for all pages."""
    return {
        "notebook": digest([(page.notebook.name, page.notebook)]),
        "parameters": store.digest(page.params),
        "records": digest(page.files()),
        "code": code,
        "versions": versions_key(),
    }


def changed(page: Page, key: Key) -> list[str]:
    """What differs from the inputs with which the page was made; ``["page"]`` where there is none; empty where it is
    fresh."""
    try:
        made_from = json.loads(page.path.read_text(encoding="utf-8"))["metadata"]["actlab"]
    except (OSError, ValueError, KeyError, TypeError):
        return ["page"]
    return [part for part, value in key.items() if made_from.get(part) != value]


def sources_key(root: Path) -> str:
    """Of all that Sphinx makes the pages from: what lies in ``book/``, the settings, the package, and every installed
    package's version."""
    book = root / "book"
    written = sorted(path for path in book.rglob("*") if path.is_file() and path.relative_to(book).parts[0] != BUILT)
    installed = sorted(f"{package.name}=={package.version}" for package in metadata.distributions())
    return store.digest(
        [
            digest((path.relative_to(book).as_posix(), path) for path in written),
            code_key(),
            platform.python_version(),
            installed,
        ]
    )


def outputs_key(folder: Path) -> str:
    """Of the built pages, as their folder lists them: names, sizes and times."""
    found = sorted((path.relative_to(folder).as_posix(), path.stat()) for path in folder.rglob("*") if path.is_file())
    return store.digest([(name, status.st_size, status.st_mtime_ns) for name, status in found])
