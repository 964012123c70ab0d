"""``actlab book``: execute what is stale, then let Jupyter Book write the pages, warnings being errors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from actlab import paths
from actlab.book.execute import BookError, execute_stale
from actlab.book.pages import software
from actlab.files import write_text
from actlab.records import store


def build_book(workers: int, root: Path = paths.ROOT) -> Path:
    """Bring the book up to date; returns its first page, ``book/_build/html/index.html``. Where nothing has changed,
    Sphinx, whose start alone takes seconds, is not asked.

    Raises:
        BookError: a notebook failed, or Jupyter Book found a fault (it has said which).
    """
    execute_stale(workers, lambda line: print(line, flush=True), root)
    built = root / "book" / "_build" / "built-from"
    if not (built.exists() and built.read_text(encoding="utf-8") == _state(root)):
        built.unlink(missing_ok=True)
        _jupyter_book(root)
        write_text(built, _state(root))
    return root / "book" / "_build" / "html" / "index.html"


def _jupyter_book(root: Path) -> None:
    start = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    command = [*start, "build", "book", "-W", "--keep-going", "--quiet"]
    if subprocess.run(command, cwd=root, check=False).returncode:
        raise BookError("jupyter-book found the faults above; nothing of the book is to be trusted until they are gone")


def _state(root: Path) -> str:
    """Hash of the software, and of what Sphinx reads and has written: names, sizes and times below ``book/``."""
    files = sorted(path for path in (root / "book").rglob("*") if path.is_file() and path.name != "built-from")
    return store.digest([software(), *((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files)])
