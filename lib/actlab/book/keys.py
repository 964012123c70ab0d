"""Staleness of executed pages: hashes of everything that a page depends on, by kind, so that the reason can be told."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path

import actlab
from actlab.book.pages import Page
from actlab.records import store

PACKAGE = Path(actlab.__file__).resolve().parent
SOURCES = (".py", ".js", ".css", ".mplstyle", ".sha256", ".yaml")

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
    """Of Python and of every installed package."""
    installed = sorted(f"{package.name}=={package.version}" for package in metadata.distributions())
    return store.digest([platform.python_version(), *installed])


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


def book_key(root: Path) -> str:
    """Of all that Sphinx reads and has written: files below ``book/`` (names, sizes, times), code and versions."""
    book = root / "book"
    files = [path for path in book.rglob("*") if path.is_file() and path.parent != book / "_build"]
    seen = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(files)]
    return store.digest([seen, code_key(), versions_key()])
