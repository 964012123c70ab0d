"""The Sphinx extension of the book (see ``_config.yml``): executes what is stale, writes downloads and redirects."""

from __future__ import annotations

import re
from base64 import b64decode
from itertools import count
from pathlib import Path
from typing import Any

from actlab import paths
from actlab.book import dataset, footer, mathml, paper
from actlab.book.execute import execute_stale
from actlab.chapters import intro
from actlab.errors import ActlabError
from actlab.figures import answer as figures
from actlab.files import read_yaml, write_text


def execute_pages(app: Any) -> None:
    """Execute what is stale before Sphinx looks which documents there are."""
    from sphinx.errors import ExtensionError
    from sphinx.util import logging

    try:
        execute_stale(say=logging.getLogger(__name__).info, root=Path(app.srcdir).parent)
    except ActlabError as error:
        raise ExtensionError(str(error)) from None


def follow_contents(app: Any, env: Any, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Every page is made anew when the table of contents has changed, since each shows it; Sphinx itself does so for
    some pages and some changes."""
    contents = (Path(app.srcdir) / "_toc.yml").read_text(encoding="utf-8")
    same, env.actlab_contents = getattr(env, "actlab_contents", "") == contents, contents
    return [] if same else sorted(env.found_docs)


def plain_citations(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """docutils calls a bibliography a list (ARIA) and its entries no list items, which a screen reader cannot follow:
    it is a plain part of the page."""
    if "body" in context:
        context["body"] = context["body"].replace(
            '<div role="list" class="citation-list">', '<div class="citation-list">'
        )


MOVED = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Moved</title>
<link rel="canonical" href="{page}">
<script>location.replace("{page}" + (location.hash || "{section}"))</script>
<noscript><meta http-equiv="refresh" content="0; url={page}{section}"></noscript>
<p>This page is now <a href="{page}{section}">{page}{section}</a>.</p>
</html>
"""


def write_redirects(app: Any, error: Exception | None) -> None:
    """Old addresses (``redirects.yaml``) lead to the pages that took their place."""
    moved = Path(app.srcdir) / "redirects.yaml"
    if error or app.builder.name != "html" or not moved.exists():
        return
    for old, new in read_yaml(moved).items():
        page, mark, section = new.partition("#")
        text = MOVED.format(page=app.builder.get_relative_uri(old, page), section=mark + section)
        write_text(Path(app.outdir) / f"{old}.html", text)


def write_downloads(app: Any, error: Exception | None) -> None:
    """The records as a data set (``data/``), the paper with its sources, and the picture that a link to a page shows
    elsewhere."""
    if error or app.builder.name != "html" or Path(app.srcdir).resolve().parent != paths.ROOT:
        return
    dataset.export(Path(app.outdir) / "data")
    paper.build_paper(Path(app.outdir) / "paper")
    front = intro.read()
    figures.lead(*front.lead, front.floors).savefig(Path(app.outdir) / footer.CARD, dpi=143)


FIGURE = re.compile(
    r'<img src="data:image/svg\+xml;base64,([\w+/=]+)"( alt="[^"]*") data-csv="([\w+/=]*)">'
    r'(<figcaption><span class="caption-text">.*?)</span>'
)


def figure_files(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """A figure of a notebook becomes a file, which its caption links, beside what it draws as CSV: no page carries a
    figure twice."""
    if app.builder.name != "html" or "body" not in context:
        return
    places = count(1)

    def linked(found: re.Match[str]) -> str:
        name, links = f"_images/{Path(page).name}-{next(places)}", ""
        for kind, text in (("svg", found[1]), ("csv", found[3])):
            if text:
                write_text(Path(app.outdir) / f"{name}.{kind}", b64decode(text).decode())
                links += f' <a href="{context["content_root"]}{name}.{kind}" download>{kind.upper()}</a>'
        return f'<img src="{context["content_root"]}{name}.svg"{found[2]}>{found[4]}{links}</span>'

    context["body"] = FIGURE.sub(linked, context["body"])


def forget_faults(app: Any, error: Exception | None) -> None:
    """After a build with warnings the next one reads every page again; otherwise it would pass without mending
    anything."""
    from sphinx.application import ENV_PICKLE_FILENAME

    if app._warncount:
        (Path(app.doctreedir) / ENV_PICKLE_FILENAME).unlink(missing_ok=True)


def setup(app: Any) -> dict[str, Any]:
    """Sphinx calls this."""
    mathml.setup(app)
    app.connect("builder-inited", execute_pages, priority=100)
    app.connect("env-get-outdated", follow_contents)
    app.connect("html-page-context", footer.add)
    app.connect("html-page-context", plain_citations)
    app.connect("html-page-context", figure_files)
    app.connect("build-finished", write_redirects)
    app.connect("build-finished", write_downloads)
    app.connect("build-finished", forget_faults)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
