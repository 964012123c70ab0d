"""``actlab book``: let Jupyter Book execute what is stale and write the pages, warnings being errors."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread

from actlab import paths
from actlab.book.address import addresses
from actlab.book.execute import WORKERS, BookError
from actlab.book.pages import load_pages, software
from actlab.files import write_text
from actlab.records import store


def build_book(workers: int, root: Path = paths.ROOT) -> Path:
    """Bring the book up to date; returns its first page, ``book/_build/html/index.html``. Where nothing has changed,
    Sphinx, whose start alone takes seconds, is not asked.

    Raises:
        BookError: a notebook failed, or Jupyter Book found a fault (it has said which).
    """
    built = root / "book" / "_build" / "built-from"
    if not (built.exists() and built.read_text(encoding="utf-8") == _state(root)):
        built.unlink(missing_ok=True)
        _jupyter_book(root, workers)
        write_text(built, _state(root))
    return root / "book" / "_build" / "html" / "index.html"


def _jupyter_book(root: Path, workers: int) -> None:
    start = [sys.executable, "-c", "from actlab.book.build import beside_its_parent; beside_its_parent()"]
    command = [*start, "build", "book", "-W", "--keep-going", "--quiet"]
    process = subprocess.Popen(
        command,
        cwd=root,
        env=os.environ | {WORKERS: str(workers)},
        start_new_session=True,
        stdin=subprocess.PIPE,  # which closes when this process ends, however that comes about
    )
    with process:
        try:
            failed = process.wait()
        except BaseException:  # an interruption: what it started ends with it
            os.killpg(process.pid, signal.SIGKILL)
            raise
    if failed:
        raise BookError("jupyter-book found the faults above; nothing of the book is to be trusted until they are gone")


def beside_its_parent() -> None:
    """Jupyter Book, in a process group of its own: the whole group ends when the process that started it does."""

    def end_with_it() -> None:
        os.read(0, 1)
        os.killpg(0, signal.SIGKILL)

    Thread(target=end_with_it, daemon=True).start()
    from jupyter_book.cli.main import main

    main()


def _state(root: Path) -> str:
    """Hash of the software, the addresses, every page's inputs, and of what Sphinx and the paper read and have written:
    names, sizes and times."""
    files = []
    for path in sorted([*(root / "book").rglob("*"), *(root / "paper").rglob("*")]):
        if path.is_file() and path.name != "built-from":
            status = path.stat()
            files.append((str(path), status.st_size, status.st_mtime_ns))
    pages = [page.made_from() for page in load_pages(root)]
    return store.digest([software(), addresses(), *pages, *files])
