"""``actlab book``: execute what is stale with a progress display, then let Jupyter Book write the pages, warnings being errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from actlab import paths
from actlab.book.stitch import BookError, Event, execute_stale


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
    """Bring the book up to date; returns its first page, ``book/_build/html/index.html``.

    Raises:
        BookError: a notebook failed, or Jupyter Book found a fault (it has said which).
    """
    execute_with_progress(workers, root=root)
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()", "build", "book", "-W", "--keep-going", "--quiet"]
    if subprocess.run(command, cwd=root, check=False).returncode:
        raise BookError("jupyter-book found the faults above; nothing of the book is to be trusted until they are mended")
    return root / "book" / "_build" / "html" / "index.html"
