"""A browser, and the repository's book to open in it where it has been built."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from playwright.sync_api import Page, sync_playwright
from served import served

from actlab import paths

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
        if response.status >= 400:
            self.faults.append(f"{response.status}: {response.url}")

    def open(self, name):
        """Go to a page of the site and wait until everything that it names is loaded."""
        self.page.goto(f"{self.base}/{name}")
        return self.page


@dataclass(frozen=True)
class Site:
    """A book on a loopback address."""

    base: str

    @property
    def pages(self):
        """Its pages, without the indices that Sphinx makes, the first page's second address, and old addresses."""
        settings = yaml.safe_load((paths.ROOT / "_config.yml").read_text(encoding="utf-8"))
        old = {f"{name}.html" for name in settings["sphinx"]["config"]["redirects"]}
        found = [path.relative_to(BUILT).as_posix() for path in BUILT.rglob("*.html")]
        found = [name for name in found if name not in old]
        return sorted(name for name in found if not name.startswith(("_", "genindex", "index", "search")))


@pytest.fixture(scope="session")
def site():
    """The repository's book on a free port of this machine."""
    if not (BUILT / "index.html").exists():
        pytest.skip("the book is not built: make book")
    with served(BUILT) as base:
        yield Site(base)


@pytest.fixture
def visit(browser, site):
    """A wide page in the light scheme; a test may change both."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme="light")
    yield Visit(page, site.base)
    page.close()
