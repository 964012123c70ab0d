"""The policy of the book's pages: also of a build that is stopped, and of a page that leads from an old address."""

import re
from types import SimpleNamespace

from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx_external_toc.events import ensure_index_file
from sphinx_reredirects import REDIRECT_FILE_DEFAULT_TEMPLATE

from actlab.book import policy


def test_a_page_has_a_policy_from_the_start(tmp_path):
    """Until the build is finished none of its inline scripts runs."""
    body = "<script>alert(1)</script>"
    page = f"<html><head>{policy.unfinished(body)}</head><body><script>theme()</script>{body}</body></html>"
    (tmp_path / "a.html").write_text(page)
    assert "'unsafe-hashes' ;" in re.search('content="([^"]*)"', page)[1]
    policy.finish(tmp_path)
    finished = (tmp_path / "a.html").read_text()
    assert finished.count("Content-Security-Policy") == 1
    assert policy.hashes("<script>theme()</script>", set()).pop() in finished
    assert policy.hashes("<script>alert(1)</script>", set()).pop() not in finished


def test_a_page_that_leads_on_has_one(tmp_path):
    """Of an old address: its own script, which goes on, is all that runs; of the book's own, as the table of contents
    writes it."""
    page = REDIRECT_FILE_DEFAULT_TEMPLATE.replace("${to_uri}", "studies/methods.html")
    (tmp_path / "old.html").write_text(page)
    config = SimpleNamespace(master_doc="intro", source_suffix={".md": "markdown"})
    ensure_index_file(SimpleNamespace(outdir=tmp_path, config=config, builder=StandaloneHTMLBuilder), None)
    first = (tmp_path / "index.html").read_text()
    for _ in range(2):
        policy.finish(tmp_path)
    finished = (tmp_path / "old.html").read_text()
    assert finished.count("Content-Security-Policy") == 1
    assert policy.hashes(page, set()).pop() in finished
    assert (tmp_path / "index.html").read_text() == policy.meta(set()) + first
