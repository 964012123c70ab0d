"""`python -m bench.links [--external]`: the links of the built book, its own and those that lead out of it told apart.

Its own need no network: a file that is there, a place in it that has this name; a test asks for them in `make check`.
`--external` asks the others for an answer, each once, which takes a network and minutes: `make links`, not CI.
"""

import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from actlab import paths

BOOK = paths.ROOT / "book" / "_build" / "html"
ALIVE = {401, 403, 405, 429}
"""Answers of servers that are there and refuse programs."""


class Page(HTMLParser):
    """The links of a page and the places in it that have a name."""

    def __init__(self, text):
        super().__init__()
        self.links, self.names = set(), {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """``href`` of links and styles, ``src`` of pictures and scripts; ``id`` and ``name``."""
        found = {key: value or "" for key, value in attributes}
        self.links |= {found[key] for key in ("href", "src") if key in found}
        self.names |= {found[key] for key in ("id", "name") if key in found}


def pages_of(book):
    """File -> what it links and names."""
    found = [path for path in sorted(book.rglob("*.html")) if path.relative_to(book).parts[0] != "_static"]
    return {path: Page(path.read_text(encoding="utf-8")) for path in found}  # there the theme keeps templates


def is_external(link):
    """Whether it leads out of the book; data and scripts in a link are neither."""
    return bool(urlsplit(link).scheme or link.startswith("//"))


def own_faults(book):
    """A line a link of the book to a file or place of its own that is not there."""
    pages, faults = pages_of(book), []
    for path, page in pages.items():
        for link in sorted(page.links):
            if is_external(link):
                continue
            to = urlsplit(link)
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            target = target / "index.html" if target.is_dir() else target
            where = path.relative_to(book).as_posix()
            if not target.exists():
                faults.append(f"{where}: {link} leads to no file")
            elif target in pages and unquote(to.fragment) not in pages[target].names:
                faults.append(f"{where}: {link} leads to no place in its page")
    return faults


def external(book):
    """Address -> the pages that link it."""
    found = {}
    for path, page in pages_of(book).items():
        for link in filter(is_external, page.links):
            if urlsplit(link).scheme in ("http", "https"):
                found.setdefault(link.partition("#")[0], []).append(path.relative_to(book).as_posix())
    return found


def answer(address):
    """What is wrong with an address; empty where it answers."""
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urllib.request.urlopen(request, timeout=30):
            return ""
    except urllib.error.HTTPError as error:
        return "" if error.code in ALIVE else f"{error.code} {error.reason}"
    except (OSError, ValueError) as error:
        return str(error)


def main(words):
    """The number of links that lead nowhere; 0 is no fault."""
    if not (BOOK / "index.html").exists():
        sys.exit(f"{BOOK} holds no book: make book")
    faults = own_faults(BOOK.resolve())
    others = external(BOOK.resolve())
    if "--external" in words:
        with ThreadPoolExecutor(8) as pool:
            for (address, pages), wrong in zip(others.items(), pool.map(answer, others), strict=True):
                faults += [f"{', '.join(pages[:3])}: {address}: {wrong}"] if wrong else []
    print(*faults, f"{len(faults)} faults; {len(others)} links lead out of the book", sep="\n")
    return len(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) > 0)
