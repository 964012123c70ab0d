"""The last lines of every page: the commit and the versions that wrote it, how many records it reads, how to cite it."""

import platform
import tomllib
from functools import cache
from html import escape
from importlib import metadata
from typing import Any

from _ext.pages import Page, load_pages
from actlab import __version__, paths
from actlab.files import read_yaml
from actlab.paths import git

CITE = """@misc{{actlab, author = {{{{{author}}}}}, title = {{{title}}},
  year = {{{date-released:%Y}}}, note = {{version {version}, {commit}}}}}"""


@cache
def commit() -> str:
    """The repository's commit, ``abcdef1234``, and whether tracked files differ from it."""
    found = git("describe", "--always", "--abbrev=10", "--dirty= and changes since")
    return f"commit {found.strip()}" if found else "an unknown commit"


def text(page: Page | None) -> str:
    """The first line; it names records where a page reads some."""
    names = ("torch", "numpy", "jupyter-book")
    versions = ", ".join([f"Python {platform.python_version()}", *(f"{n} {metadata.version(n)}" for n in names)])
    records = [path for path in page.every_file() if path.suffix == ".json"] if page else []
    line = f"Written by actlab {__version__} from {commit()}; {versions}"
    return f"{line}; records: {len(records)}." if records else f"{line}."


@cache
def citation() -> str:
    """How to cite the book, folded: from CITATION.cff and the commit."""
    about = read_yaml(paths.ROOT / "CITATION.cff")
    entry = CITE.format(**about, author=about["authors"][0]["name"], commit=commit())
    said = f"Version {about['version']} of {about['date-released']}; {about['license']} licence."
    return f"<details id='cite'><summary>Cite this</summary><pre>{escape(entry)}</pre><p>{escape(said)}</p></details>"


def html(name: str) -> str:
    """Of a page of the book."""
    page = next((page for page in load_pages() if page.page == name), None)
    return f'<p class="provenance">{escape(text(page))}</p>{citation()}'


def say_site(app: Any, config: Any) -> None:
    """With the address of the site (``[tool.actlab]`` of pyproject.toml) pages have canonical links."""
    settings = tomllib.loads((paths.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    if site := settings["tool"]["actlab"]["site"]:
        config.html_baseurl = config.ogp_site_url = f"{site}/"
