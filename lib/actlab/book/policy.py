"""The Content-Security-Policy of the book's pages: no script runs but the theme's and two programs of ours, nothing is
loaded from elsewhere or sent."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import unescape
from pathlib import Path

from actlab.explorer.widget import Explorer
from actlab.files import write_text
from actlab_audit import ledger

INLINE = re.compile(r'<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>|\son[a-z]+="([^"]*)"', re.DOTALL)
"""A script in a page, or what an element does on an event."""
MARK = re.compile(r"<!-- policy, without: ([^>]*) -->")
"""In the head of a page that is not finished: the hashes of scripts that its text brings and that are not ours."""
OURS = "'self' file:"
BUTTONS = ' onclick="window.print()" onclick="toggleFullScreen()"'
"""The theme's, of any page: the search reads pages that have them, under the policy of its own."""
TOGGLE = '<summary{}><span class="toctree-toggle"'
"""The theme's, beside a page with pages below it: it names nothing that a screen reader could say."""
LEADS_ON = '<html><head><noscript><meta http-equiv="refresh"'
"""How a page of an old address begins."""
FIRST = '<meta http-equiv="Refresh"'
"""How ``index.html`` begins, which leads to the first page."""
POLICY = {
    "default-src": OURS,
    "script-src": f"{OURS} 'unsafe-hashes' {{}}",
    "style-src": f"{OURS} 'unsafe-inline'",
    **dict.fromkeys(("img-src", "font-src"), f"{OURS} data:"),
    "connect-src": "'self'",
    "form-action": OURS,
    **dict.fromkeys(("frame-src", "object-src", "base-uri"), "'none'"),
}
"""``file:`` for who opens the pages from a folder; styles stand in the explorer's and the theme's elements."""


@cache
def programs() -> set[str]:
    """The explorer's script, which is the same whatever its numbers are, and the ledger's."""
    pages = Explorer().to_html(), ledger.TEMPLATE.render(menus={}, outcomes={}, others={})
    return {script for page in pages for script, _ in INLINE.findall(page)}


def hashes(page: str, without: set[str]) -> set[str]:
    """What a policy calls the scripts of a page, but for some."""
    found = {script or unescape(handler) for script, handler in INLINE.findall(page)}
    made = (b64encode(sha256(text.encode()).digest()).decode() for text in found if text not in without)
    return {f"'sha256-{one}'" for one in made}


def meta(allowed: set[str]) -> str:
    """The policy of a page that runs the scripts of these hashes."""
    policy = "; ".join(map(" ".join, POLICY.items())).format(" ".join(sorted(allowed)))
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def unfinished(body: str) -> str:
    """For the head of a page with this text, until ``finish``: a policy that lets nothing in the text run, and a mark;
    a build that is stopped leaves pages with it."""
    strange = " ".join(sorted(hashes(body, programs())))
    return f"{meta(set())}<!-- policy, without: {strange} -->"


def finish(folder: Path) -> None:
    """At the end, of all pages in a folder: where a page has a mark, its policy: allowed is what the theme wrote around
    the text, and our programs in it. A page that leads on gets one too."""
    for path in folder.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        if found := MARK.search(page):
            strange = {*found[1].split()}
            allowed = (hashes(page, set()) - strange) | hashes(BUTTONS, set())
            named = page.replace(TOGGLE.format(""), TOGGLE.format(' aria-label="Its pages"'))
            write_text(path, named.replace(meta(set()) + found[0], meta(allowed), 1))
        elif page.startswith(LEADS_ON):
            write_text(path, page.replace("<head>", f"<head>{meta(hashes(page, set()))}", 1))
        elif page.startswith(FIRST):
            write_text(path, meta(hashes(page, set())) + page)
