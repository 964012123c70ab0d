"""``actlab book``: execute what is stale, then let Jupyter Book write the pages, warnings being errors; print them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from actlab import paths
from actlab.book.execute import BookError, execute_stale
from actlab.book.keys import book_key
from actlab.files import write_text


def say(line: str) -> None:
    """A line of progress on the terminal."""
    print(line, flush=True)


def build_book(workers: int = os.cpu_count() or 1, root: Path = paths.ROOT) -> Path:
    """Bring the book up to date; returns its first page, ``book/_build/html/index.html``. Where nothing has changed,
    Sphinx is not asked.

    Raises:
        BookError: a notebook failed, or Jupyter Book found a fault (it has said which).
    """
    execute_stale(workers, say, root)
    stamp = root / "book" / "_build" / "made-from"
    if not (stamp.exists() and stamp.read_text(encoding="utf-8") == book_key(root)):
        stamp.unlink(missing_ok=True)
        _jupyter_book(root)
        write_text(stamp, book_key(root))
    return root / "book" / "_build" / "html" / "index.html"


def _jupyter_book(root: Path, *more: str) -> None:
    start = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    command = [*start, "build", "book", "-W", "--keep-going", "--quiet", *more]
    if subprocess.run(command, cwd=root, check=False).returncode:
        raise BookError("jupyter-book found the faults above; nothing of the book is to be trusted until they are gone")


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PRINTING = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--no-pdf-header-footer")


def print_book(root: Path = paths.ROOT) -> Path:
    """The whole book as one PDF, ``book/_build/book.pdf``, printed by a browser; call ``build_book`` first.

    Raises:
        BookError: there is no browser, or it printed nothing.
    """
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise BookError(f"printing needs one of {', '.join(BROWSERS)}, and none is installed")
    _jupyter_book(root, "--builder", "singlehtml")
    built = root / "book" / "_build"
    page, printed = built / "singlehtml" / "index.html", built / "book.pdf"
    printed.unlink(missing_ok=True)
    command = [browser, *PRINTING, f"--print-to-pdf={printed}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not printed.exists():
        raise BookError(f"{browser} printed nothing: {done.stderr.strip()[-500:]}")
    return printed
