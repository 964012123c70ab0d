"""The last lines of every page: which commit wrote it, from records of which days, with which versions, how to cite it;
and what a link to it shows elsewhere."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterable
from functools import cache
from html import escape
from importlib import metadata
from pathlib import Path
from typing import Any

from actlab import __version__, paths
from actlab.book.pages import Page, load_pages
from actlab.files import read_yaml
from actlab.paths import git

DESCRIBE = ("describe", "--always", "--abbrev=10", "--dirty= and changes since")


def commit() -> str:
    """The repository's commit, ``abcdef1234``, and whether tracked files differ from it."""
    return f"commit {found.strip()}" if (found := git(*DESCRIBE)) else "no commit"


GITHUB = re.compile(r"(?:https://github\.com/|git@github\.com:)([\w.-]+/[\w.-]+?)(?:\.git)?/?")


def live(pages: Iterable[Page], origin: str) -> str:
    """A link that opens a page's notebook with a kernel on Binder, where this clone's origin is a repository of
    GitHub."""
    if not (found := GITHUB.fullmatch(origin)):
        return ""
    start = f"https://mybinder.org/v2/gh/{found[1]}/HEAD?labpath=notebooks"
    return "".join(f' <a href="{start}/{page.notebook}.ipynb">Run this notebook on Binder.</a>' for page in pages)


@cache
def day(path: Path) -> str:
    """The day on which a record was made, ``2026-11-21``; empty for any other file."""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["provenance"]["date"])[:10]
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def records_of(pages: Iterable[Page]) -> str:
    """``18 records of 2026-11-21 to 2026-11-22`` that the pages read; ``no record`` where there is none."""
    files = {path for page in pages for _, path in page.files() if path.suffix == ".json"}
    days = sorted(found for path in files if (found := day(path)))
    if not days:
        return "no record"
    between = days[0] + (f" to {days[-1]}" if days[-1] != days[0] else "")
    return f"{len(days)} record{'' if len(days) == 1 else 's'} of {between}"


def text(pages: Iterable[Page]) -> str:
    """The whole line, for a page that reads what ``pages`` read; it says nothing of records where they read none."""
    names = ("torch", "numpy", "jupyter-book")
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{n} {metadata.version(n)}" for n in names)])
    reading = [page for page in pages if page.reads]
    return f"Written by actlab {__version__} from {commit()}; {versions}" + (
        f"; {records_of(reading)}." if reading else "."
    )


CITE = """@misc{{actlab, author = {{{{{author}}}}}, title = {{{title}}},
  year = {{{date-released:%Y}}}, note = {{version {version}, {commit}}}}}"""
CARD = "_static/card.png"
"""The lead figure, which a link to a page shows elsewhere."""


@cache
def citation() -> str:
    """How to cite the book, folded: from CITATION.cff and the commit; with its licence."""
    about = read_yaml(paths.ROOT / "CITATION.cff")
    entry = CITE.format(**about, author=about["authors"][0]["name"], commit=commit())
    said = (
        f"Version {about['version']} of {about['date-released']}; text, code and records: {about['license']} licence."
    )
    return f"<details id='cite'><summary>Cite this</summary><pre>{escape(entry)}</pre><p>{escape(said)}</p></details>"


def card(app: Any, context: dict[str, Any], doctree: Any) -> str:
    """Description and picture of a page for search engines and links elsewhere; absolute where ``html_baseurl`` is
    known."""
    paragraphs = (node.astext() for node in doctree.findall() if node.tagname == "paragraph") if doctree else ()
    said = " ".join(next((text for text in paragraphs if len(text) > 40), app.config.html_title).split())[:200]
    image = (app.config.html_baseurl.rstrip("/") + "/" if app.config.html_baseurl else context["content_root"]) + CARD
    shown = {"og:title": context.get("title", ""), "og:description": said, "og:type": "article", "og:image": image}
    tags = {"description": said, "twitter:card": "summary_large_image"}
    return "".join(
        f'<meta {key}="{name}" content="{escape(text)}">\n'
        for key, found in (("name", tags), ("property", shown))
        for name, text in found.items()
    )


def add(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Sphinx calls this for every page: an executed page names its own records."""
    pages = [page for page in load_pages(Path(app.srcdir).parent) if page.name == name]
    origin = (git("remote", "get-url", "origin") or "").strip()
    context["theme_extra_footer"] = f'<p class="provenance">{escape(text(pages))}{live(pages, origin)}</p>{citation()}'
    context["metatags"] = context.get("metatags", "") + card(app, context, doctree)
