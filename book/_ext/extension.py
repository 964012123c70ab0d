"""The Sphinx extension of the book (see ``_config.yml``): executes what is stale, lays downloads beside the pages."""

import multiprocessing
import re
import runpy
import sys
from base64 import b64decode
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import ENV_PICKLE_FILENAME
from sphinx.util import logging

import dataset
import findings
import pictures
from _ext import footer, mathml
from _ext.execute import execute_stale, not_held
from actlab import paths
from actlab.errors import ActlabError, NotHeld
from actlab.files import write_text


def execute_pages(app: Any) -> None:
    """Execute what is stale before Sphinx looks which documents there are; the downloads are made beside it."""
    if app.builder.name == "html" and Path(app.srcdir).resolve().parent == paths.ROOT:
        beside = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
        app.actlab_downloads = beside.submit(downloads, Path(app.outdir), app.config.ogp_image)
        beside.shutdown(wait=False)
    try:
        execute_stale(Path(app.srcdir).parent)
    except ActlabError as error:
        sys.exit(f"error: {error}")


def downloads(out: Path, card: str) -> list[str]:
    """Write the records as a data set (``data/``) with the findings, the paper with its sources, and the picture that a
    link to a page shows elsewhere; returns what the front page and the paper say and the records here do not hold."""
    lines = []
    paper = runpy.run_path(str(paths.ROOT / "paper" / "builder.py"))["build_paper"]
    for page, hold in (("the front page", findings.check), ("the paper", lambda: paper(out / "paper"))):
        try:
            hold()
        except NotHeld as error:
            lines.append(f"{page}: {error}; it may be out of date")
    write_text(out / "data" / "findings.csv", findings.table().to_csv(index=False))
    (out / card).parent.mkdir(parents=True, exist_ok=True)
    pictures.figures()["agreement"].savefig(out / card, dpi=280)
    dataset.export(out / "data")
    return lines


TOGGLE = '<summary{}><span class="toctree-toggle"'
FOLDED = "<!-- folded -->"
RECORDED = '<details class="recorded">'
"""Opens what a notebook says of the recorded study, which is folded where the notebook shows another run."""
FIGURE = re.compile(
    r'<img src="data:image/svg\+xml;base64,([\w+/=]+)"( alt="[^"]*") data-csv="([\w+/=]*)">'
    r'<figcaption><span class="caption-text">(.*?)</span>'
)


def complete(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Sphinx calls this for every page: its figures and its last lines."""
    if app.builder.name == "html":
        if "body" in context:
            context["body"] = with_files(context["body"], page, context["content_root"], Path(app.outdir))
        context["theme_extra_footer"] = footer.html(page)


def with_files(body: str, page: str, root: str, out: Path) -> str:
    """A figure of a notebook becomes a file, which its caption links, beside what it draws as CSV: no page carries a
    figure twice. And docutils calls a bibliography a list (ARIA) and its entries no list items, which a screen reader
    cannot follow: it is a plain part of the page."""
    places = count(1)

    def linked(found: re.Match[str]) -> str:
        name, links = f"_images/{Path(page).name}-{next(places)}", ""
        for kind, text in (("svg", found[1]), ("csv", found[3])):
            if text:
                write_text(out / f"{name}.{kind}", b64decode(text).decode())
                links += f' <a href="{root}{name}.{kind}" download>{kind.upper()}</a>'
        caption = f'<figcaption><span class="caption-text">{found[4]}{links}</span>'
        return f'<img src="{root}{name}.svg"{found[2]}>{caption}'

    plain = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    return FIGURE.sub(linked, plain)


def unfold(app: Any, doctree: Any, page: str) -> None:
    """What is said of the recorded study stands open in the book, whose pages are of that study."""
    for opening in [raw for raw in doctree.findall(nodes.raw) if raw.astext().startswith(RECORDED)]:
        behind = opening.findall(nodes.raw, include_self=False, descend=False, siblings=True)
        closing = next(raw for raw in behind if raw.astext().strip() == "</details>")
        for raw in (opening, closing):
            raw.parent.remove(raw)


def fold(app: Any, doctree: Any, page: str) -> None:
    """A section whose notebook says ``<!-- folded -->`` below its heading is closed until a reader, or a link to it,
    opens it."""
    if app.builder.name != "html":
        return
    for mark in [raw for raw in doctree.findall(nodes.raw) if raw.astext().strip() == FOLDED]:
        section = mark.parent
        title, *rest = section.children
        inside = nodes.container("", *[part for part in rest if part is not mark], ids=section["ids"])
        section["ids"] = [f"closed-{name}" for name in section["ids"]]  # a browser opens what a link points into
        opening, closing, end = (
            nodes.raw("", text, format="html")
            for text in ('<details class="folded"><summary>', "</summary>", "</details>")
        )
        section.children = []
        section.extend([opening, title, closing, inside, end])


def finish(app: Any, error: Exception | None) -> None:
    """Sphinx calls this at the end. After a build with warnings the next one reads every page again, so that none is
    passed over."""
    if not error:
        made = getattr(app, "actlab_downloads", None)
        for line in [*not_held(Path(app.srcdir).parent), *(made.result() if made else ())]:
            logging.getLogger(__name__).warning(line)
    for path in Path(app.outdir).rglob("*.html"):  # the theme's button beside a page with pages below it has no name
        text = path.read_text(encoding="utf-8")
        if (named := text.replace(TOGGLE.format(""), TOGGLE.format(' aria-label="Its pages"'))) != text:
            write_text(path, named)
    if app._warncount:
        (Path(app.doctreedir) / ENV_PICKLE_FILENAME).unlink(missing_ok=True)


def setup(app: Any) -> dict[str, Any]:
    """Sphinx calls this."""
    contents = (Path(app.srcdir) / "_toc.yml").read_text(encoding="utf-8")
    app.add_config_value("actlab_contents", contents, "html")  # each page shows it: when it changes, all are written
    app.add_html_math_renderer("mathml", (mathml.visit, None), (mathml.visit, None))
    app.connect("config-inited", footer.say_site, priority=1)
    app.connect("builder-inited", execute_pages, priority=100)
    app.connect("doctree-resolved", unfold)
    app.connect("doctree-resolved", fold)
    app.connect("html-page-context", complete)
    app.connect("build-finished", finish, priority=900)  # after the table of contents has written index.html
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
