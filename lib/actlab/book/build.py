"""``actlab book``: execute what is stale, then let Jupyter Book write the pages, warnings being errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from actlab import paths
from actlab.book.execute import BookError, execute_stale


def build_book(workers: int = os.cpu_count() or 1, root: Path = paths.ROOT) -> Path:
    """Bring the book up to date; returns its first page, ``book/_build/html/index.html``.

    Raises:
        BookError: a notebook failed, or Jupyter Book found a fault (it has said which).
    """
    execute_stale(workers, lambda line: print(line, flush=True), root)
    start = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    command = [*start, "build", "book", "-W", "--keep-going", "--quiet"]
    if subprocess.run(command, cwd=root, check=False).returncode:
        raise BookError("jupyter-book found the faults above; nothing of the book is to be trusted until they are gone")
    return root / "book" / "_build" / "html" / "index.html"
