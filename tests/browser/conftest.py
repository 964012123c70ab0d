"""A browser and books to open in it: a tiny book made here from made-up records, and the repository's own where it has
been built."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from bench.payloads import PAGE, book_of
from filelock import FileLock
from playwright.sync_api import Page, sync_playwright
from served import served
from tests.support.explored import catalogue

from actlab import paths
from actlab.book.build import jupyter_book
from actlab.explorer.widget import Explorer

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
BUILT = paths.ROOT / "book" / "_build" / "html"
HARMLESS = ("Got invalid theme mode", "THEBE_JS_URL")
"""What the theme itself writes to the console on every page."""


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium: the system's, else the one that `playwright install chromium` brought."""
    with sync_playwright() as playwright:
        program = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if program is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("no Chromium: apt install chromium, or playwright install chromium")
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@dataclass
class Visit:
    """A page and everything that went wrong or over the wire while it was open."""

    page: Page
    base: str
    faults: list[str] = field(default_factory=list)
    bytes: int = 0

    def __post_init__(self):
        self.page.set_default_timeout(10_000)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))
        self.page.on("request", self._request)
        self.page.on("requestfailed", self._failed)
        self.page.on("response", self._response)

    def _console(self, message):
        if message.type in ("error", "warning") and not message.text.startswith(HARMLESS):
            self.faults.append(f"console: {message.text}")

    def _failed(self, request):
        """What the next page cut off was still on its way, and is no fault of the page before."""
        if request.failure != "net::ERR_ABORTED":
            self.faults.append(f"failed: {request.url}: {request.failure}")

    def _request(self, request):
        if not request.url.startswith((self.base, "data:", "blob:")):
            self.faults.append(f"outside: {request.url}")

    def _response(self, response):
        self.bytes += int(response.headers.get("content-length", 0))
        if response.status >= 400:
            self.faults.append(f"{response.status}: {response.url}")

    def open(self, name):
        """Go to a page of the site and wait until everything that it names is loaded."""
        self.page.goto(f"{self.base}/{name}")
        return self.page


@dataclass(frozen=True)
class Site:
    """A book on a loopback address."""

    folder: Path
    base: str

    @property
    def name(self):
        """``built`` for the repository's own, else ``tiny``."""
        return "built" if self.folder == BUILT else "tiny"

    @property
    def pages(self):
        """Its pages, without the indices that Sphinx makes, the first page's second address, and old addresses."""
        settings = yaml.safe_load((paths.ROOT / "_config.yml").read_text(encoding="utf-8"))
        old = {f"{name}.html" for name in settings["sphinx"]["config"]["redirects"]}
        found = [path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.html")]
        found = [name for name in found if name not in old]
        return sorted(name for name in found if not name.startswith(("_", "genindex", "index", "search")))


@pytest.fixture(scope="session")
def built():
    """The repository's own book."""
    if not (BUILT / "index.html").exists():
        pytest.skip("the book is not built: make book")
    yield from site_of(BUILT)


@pytest.fixture(scope="session", params=["tiny", "built"])
def site(request):
    """The tiny book, then the repository's own."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """The tiny book alone, whose numbers are known."""
    yield from site_of(tiny_book(tmp_path_factory))


def site_of(folder):
    """A folder on a free port of this machine."""
    with served(folder) as base:
        yield Site(folder, base)


def tiny_book(factory):
    """The real settings and style, and a page with an explorer of a few records; built once for all processes."""
    base = factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "tiny-book"
    with FileLock(f"{root}.lock"):
        if not (root / "book/_build/html/index.html").exists():
            _write(root)
            jupyter_book(root, strict=True)
    return root / "book/_build/html"


def _write(root):
    intro = "# A tiny book\n\nSwiGLU {cite:p}`shazeer2020glu` has $\\beta > 0$.\n\n$$ y = x\\,\\sigma(\\beta x) $$\n"
    book = book_of(root, "studies/explore", "works", intro=intro)
    (book / "works.md").write_text("# Bibliography\n\n```{bibliography}\n:all:\n```\n")
    (book / "studies").mkdir()
    page = PAGE.replace("Shown", "Explore the results").format(html=Explorer(catalogue=catalogue()).to_html())
    (book / "studies/explore.md").write_text(page)


@pytest.fixture
def visit(browser, site):
    """A wide page in the light scheme; a test may change both."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    yield Visit(page, site.base)
    page.close()
