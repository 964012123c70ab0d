"""``actlab book``: execute what is stale with a progress display, then let Jupyter Book write the pages, warnings being
errors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from actlab import paths
from actlab.book.keys import BUILT, outputs_key, sources_key
from actlab.book.stitch import BookError, Event, execute_stale
from actlab.files import write_text


class BookDisplay:
    """A progress bar on a terminal, a line a page elsewhere; ``watch`` takes the events of ``execute_stale``."""

    def __init__(self, console: Console) -> None:
        self.console = console
        columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeElapsedColumn())
        self.progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.task = self.progress.add_task("notebooks", total=None)

    def watch(self, event: Event) -> None:
        """Show one event."""
        for one in event.stale:
            self.console.print(f"{one.page.name} is to be executed: new {', '.join(one.reasons)}", soft_wrap=True)
        if event.made is None:
            self.progress.update(self.task, total=len(event.stale))
            return
        state = "[red]failed[/red]" if event.made.error else "done"
        self.console.print(f"{event.made.page}: {state} in {event.made.seconds:.1f} s", soft_wrap=True)
        self.progress.advance(self.task)


def execute_with_progress(workers: int, console: Console | None = None, root: Path = paths.ROOT) -> list[Path]:
    """``execute_stale``, watched."""
    display = BookDisplay(console or Console(highlight=False))
    with display.progress:
        return execute_stale(workers, display.watch, root)


def build_book(workers: int = os.cpu_count() or 1, root: Path = paths.ROOT) -> Path:
    """Bring the book up to date; returns its first page, ``book/_build/html/index.html``. Where nothing has changed,
    Sphinx is not asked.

    Raises:
        BookError: a notebook failed, or Jupyter Book found a fault (it has said which).
    """
    execute_with_progress(workers, root=root)
    built = root / "book" / BUILT
    stamp, sources = built / "made-from", sources_key(root)
    if not (stamp.exists() and stamp.read_text(encoding="utf-8") == sources + outputs_key(built / "html")):
        stamp.unlink(missing_ok=True)
        _jupyter_book(root)
        write_text(stamp, sources + outputs_key(built / "html"))
    return built / "html" / "index.html"


def _jupyter_book(root: Path, *more: str) -> None:
    command = [
        sys.executable,
        "-c",
        "from jupyter_book.cli.main import main; main()",
        "build",
        "book",
        "-W",
        "--keep-going",
        "--quiet",
        *more,
    ]
    if subprocess.run(command, cwd=root, check=False).returncode:
        raise BookError(
            "jupyter-book found the faults above; nothing of the book is to be trusted until they are mended"
        )


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
    page, printed = root / "book" / BUILT / "singlehtml" / "index.html", root / "book" / BUILT / "book.pdf"
    printed.unlink(missing_ok=True)
    done = subprocess.run(
        [browser, *PRINTING, f"--print-to-pdf={printed}", page.as_uri()], capture_output=True, text=True, check=False
    )
    if not printed.exists():
        raise BookError(f"{browser} printed nothing: {done.stderr.strip()[-500:]}")
    return printed
