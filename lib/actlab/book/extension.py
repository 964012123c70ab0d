"""The book as a Sphinx extension (see ``_config.yml``): the plain ``jupyter-book build book/`` executes what is stale, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from actlab.book import footer, mathml
from actlab.book.stitch import Event, execute_stale
from actlab.errors import ActlabError


def execute_pages(app: Any) -> None:
    """Execute what is stale before Sphinx looks which documents there are."""
    from sphinx.errors import ExtensionError
    from sphinx.util import logging

    log = logging.getLogger(__name__)

    def watch(event: Event) -> None:
        for one in event.stale:
            log.info("[actlab] %s is to be executed: new %s", one.page.name, ", ".join(one.reasons))
        if event.made and not event.made.error:
            log.info("[actlab] %s executed in %.1f s", event.made.page, event.made.seconds)

    try:
        execute_stale(watch=watch, root=Path(app.srcdir).parent)
    except ActlabError as error:
        raise ExtensionError(str(error)) from None


def note_quotations(app: Any, doctree: Any) -> None:
    """A page that quotes a notebook's numbers is written anew when that notebook changes; myst-nb itself leaves the old numbers there."""
    from myst_nb.ext.glue.utils import PendingGlueReference

    for node in doctree.findall(PendingGlueReference):
        app.env.note_dependency(app.env.doc2path(node.refdoc))


def forget_faults(app: Any, error: Exception | None) -> None:
    """After a build with warnings the next one reads every page again; otherwise it would pass without mending anything."""
    from sphinx.application import ENV_PICKLE_FILENAME

    if app._warncount:
        (Path(app.doctreedir) / ENV_PICKLE_FILENAME).unlink(missing_ok=True)


def setup(app: Any) -> dict[str, Any]:
    """Sphinx calls this."""
    mathml.setup(app)
    app.connect("builder-inited", execute_pages, priority=100)
    app.connect("doctree-read", note_quotations)
    app.connect("html-page-context", footer.add)
    app.connect("build-finished", forget_faults)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
