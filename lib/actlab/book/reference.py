"""The pages of the book that are made from the library when it is built: every field of a params file (``fields``), and
the public names (``api``, by Sphinx's autodoc)."""

import re
from collections.abc import Callable
from typing import Any

from actlab.study.described import Described, fields

PAGES = ("fields", "api")
"""Read again at each build, since they depend on the library."""
MARK = re.compile(r"<!-- fields: (axes|study|keys) -->")
HEAD = "| field, studies of | meaning | default | allowed |\n|---|---|---|---|\n"
PARTS: dict[str, Callable[[Described], bool]] = {
    "axes": lambda one: one.several,
    "study": lambda one: not one.several and "." not in one.name,
    "keys": lambda one: "." in one.name,
}
"""What follows a mark -> which fields these are."""


def table(part: str) -> str:
    """One part of the fields, in Markdown."""
    return HEAD + "".join(_row(one) for one in fields() if PARTS[part](one))


def _row(one: Described) -> str:
    name = f"`{one.name}`<br>{', '.join(one.kinds)}"
    return f"| {name} | {_plain(one.meaning)} | {_plain(one.default)} | {_plain(one.allowed)} |\n"


def _plain(text: str) -> str:
    """Text in a cell: code stays, of the rest nothing is markup."""
    parts = re.split("(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_|<>$\[\]\\])", r"\\\1", part) for part in parts)


def fill(app: Any, page: str, source: list[str]) -> None:
    """Sphinx calls this with the text of each page."""
    if page in PAGES:
        source[0] = MARK.sub(lambda found: table(found[1]), source[0])


def outdated(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Sphinx asks which pages are to be read again."""
    return [page for page in PAGES if page in env.found_docs]
