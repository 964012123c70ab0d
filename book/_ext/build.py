"""``actlab book``: execute what is stale, then let Jupyter Book write the pages. A reader's build ends with a book; an
author's (``strict``) stops at a number that the records do not hold, and at a warning of Sphinx."""

import os
import subprocess
import sys
from pathlib import Path

from _ext.execute import WORKERS, BookError, execute_stale, not_held
from actlab import paths


def build_book(workers: int, strict: bool = False, root: Path = paths.ROOT) -> Path:
    """Bring the book up to date; returns its first page, ``book/_build/html/index.html``.

    Raises:
        BookError: a notebook raised, Jupyter Book found a fault (it has said which) or, ``strict``, a typed number is
            not what the records say.
    """
    os.environ[WORKERS] = str(workers)
    execute_stale(root)
    if strict and (lines := not_held(root)):
        raise BookError("\n".join(lines))
    jupyter_book(root, strict)
    return root / "book" / "_build" / "html" / "index.html"


def jupyter_book(root: Path, strict: bool) -> None:
    """The command in a folder; ``strict``: warnings are errors.

    Raises:
        BookError: it found a fault.
    """
    more = ["-W", "--keep-going"] if strict else []
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", "book", "--quiet", *more]
    if subprocess.run(command, cwd=root, check=False).returncode:
        raise BookError("Jupyter Book found the faults above")
