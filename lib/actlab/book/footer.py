"""The last lines of every page: which commit wrote it, from records of which days, with which versions, how to cite
it."""

import json
import platform
import re
from functools import cache
from html import escape
from importlib import metadata
from pathlib import Path

from actlab import __version__, paths
from actlab.book.address import addresses
from actlab.book.pages import Page, load_pages
from actlab.files import read_yaml
from actlab.paths import git

DESCRIBE = ("describe", "--always", "--abbrev=10", "--dirty= and changes since")
GITHUB = re.compile(r"(?:https://github\.com/|git@github\.com:)([\w.-]+/[\w.-]+?)(?:\.git)?/?")
CITE = """@misc{{actlab, author = {{{{{author}}}}}, title = {{{title}}},
  year = {{{date-released:%Y}}}, note = {{version {version}, {commit}}}}}"""


def commit() -> str:
    """The repository's commit, ``abcdef1234``, and whether tracked files differ from it."""
    found = git(*DESCRIBE)
    return f"commit {found.strip()}" if found else "no commit"


def live(page: Page, origin: str) -> str:
    """Links that open a page's notebook with a kernel on Binder and on Colab, where the project's repository (else this
    clone's origin) is one of GitHub."""
    if not (found := GITHUB.fullmatch(addresses()["repository"] or origin)):
        return ""
    file = f"notebooks/{page.notebook}.ipynb"
    binder = f"https://mybinder.org/v2/gh/{found[1]}/HEAD?labpath={file}"
    colab = f"https://colab.research.google.com/github/{found[1]}/blob/main/{file}"
    first = f"%pip install git+https://github.com/{found[1]}"
    return (
        f' <a href="{binder}">Run this notebook on Binder</a> or <a href="{colab}">in Colab</a>, '
        f"there after <code>{escape(first)}</code>."
    )


@cache
def day(path: Path) -> str:
    """The day on which a record was made, ``2026-11-21``; empty for any other file."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["provenance"]["date"])[:10]
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def text(page: Page | None) -> str:
    """The whole line, for an executed or a written page; it says nothing of records where none are read."""
    names = ("torch", "numpy", "jupyter-book")
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{n} {metadata.version(n)}" for n in names)])
    line = f"Written by actlab {__version__} from {commit()}; {versions}"
    if not (page and page.reads):
        return f"{line}."
    records = [path for path in page.every_file() if path.suffix == ".json"]
    days = sorted(filter(None, map(day, records)))
    made = f", made from {days[0]} to {days[-1]}" if days else ""
    return f"{line}; records: {len(days)}{made}."


@cache
def citation() -> str:
    """How to cite the book, folded: from CITATION.cff and the commit; with its licence."""
    about = read_yaml(paths.ROOT / "CITATION.cff")
    entry = CITE.format(**about, author=about["authors"][0]["name"], commit=commit())
    said = (
        f"Version {about['version']} of {about['date-released']}; text, code and records: {about['license']} licence."
    )
    return f"<details id='cite'><summary>Cite this</summary><pre>{escape(entry)}</pre><p>{escape(said)}</p></details>"


def html(name: str, root: Path) -> str:
    """Of a page of the book in that folder: an executed one names its own records."""
    page = next((page for page in load_pages(root) if page.name == name), None)
    link = live(page, (git("remote", "get-url", "origin") or "").strip()) if page else ""
    return f'<p class="provenance">{escape(text(page))}{link}</p>{citation()}'
