"""Execution of the notebooks whose inputs changed, in parallel, by papermill. Either a whole page is left or none."""

from __future__ import annotations

import ast
import logging
import multiprocessing
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from actlab import files, paths
from actlab.book.keys import Key, changed, code_key, key_of
from actlab.book.pages import FOLDER, Page, load_pages, replaced
from actlab.errors import ActlabError, BadInput
from actlab.records import store

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
TIMEOUT = 1200
"""Seconds for one cell."""


class BookError(ActlabError):
    """Notebooks that failed: each is named with its cell and its error."""


class Made(NamedTuple):
    """How the execution of a page ended; ``error`` is empty where it went well."""

    page: str
    seconds: float
    error: str = ""


def execute_stale(
    workers: int = os.cpu_count() or 1, say: Callable[[str], object] = lambda line: None, root: Path = paths.ROOT
) -> list[Path]:
    """Execute the pages whose inputs changed, ``workers`` notebooks at once on one thread each; remove what no entry
    names; return the pages written.

    Args:
        workers: notebooks at once.
        say: is told each page that is to be executed, why, and how it ended.
        root: the repository.

    Raises:
        BadInput: an entry of ``pages.yaml`` gives what it cannot; nothing has been executed.
        BookError: one or more notebooks failed; the other pages are written all the same.
    """
    paths.cache().mkdir(parents=True, exist_ok=True)
    with FileLock(paths.cache() / "book.lock"):
        pages, code = load_pages(root), code_key()
        for path in {*(root / "book" / FOLDER).glob("*.ipynb")} - {page.path for page in pages}:
            path.unlink()
        keyed = [(page, key_of(page, code)) for page in pages]
        stale = [(page, key) for page, key in keyed if changed(page, key)]
        for page, key in stale:
            check_names(page)
            say(f"{page.name} is to be executed: new {', '.join(changed(page, key))}")
        failed = []
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(max(1, min(workers, len(stale))), context, one_thread) as pool:
            for number, future in enumerate(as_completed([pool.submit(make, *each) for each in stale]), start=1):
                made = future.result()
                state = "failed" if made.error else f"done in {made.seconds:.1f} s"
                say(f"{number} of {len(stale)}: {made.page} {state}")
                failed += [made.error] if made.error else []
    if failed:
        raise BookError("\n".join(sorted(failed)))
    return [page.path for page, _ in stale]


def one_thread() -> None:
    """For a worker process and the kernels that it starts: each notebook has one core."""
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"), PYDEVD_DISABLE_FILE_VALIDATION="1")


def make(page: Page, key: Key) -> Made:
    """Execute a page's notebook and lay the result in the book. Never raises for what a notebook does."""
    start = time.perf_counter()
    work = paths.cache() / "book" / f"{Path(page.name).name}.ipynb"
    work.parent.mkdir(parents=True, exist_ok=True)
    try:
        notebook = _execute(page, work)
        _clean(notebook, page, key)
        files.write_text(page.path, _text(notebook))
    except Exception as error:  # handed over as text: not every exception can cross processes
        return Made(page.name, time.perf_counter() - start, _explain(error, page, work))
    work.unlink()
    return Made(page.name, time.perf_counter() - start)


def _execute(page: Page, work: Path) -> Any:
    import papermill

    logging.getLogger("papermill").setLevel(
        logging.ERROR
    )  # it warns of every name of a params file that has a default here
    from traitlets.config import Config

    with _reading(page), tempfile.TemporaryDirectory(prefix="actlab-") as sockets:  # else kernels would share them
        private = {"transport": "ipc", "connection_file": f"{sockets}/kernel.json"}
        return papermill.execute_notebook(
            str(page.notebook),
            str(work),
            page.params,
            kernel_name="python3",
            cwd=str(page.notebook.parent),
            progress_bar=False,
            execution_timeout=TIMEOUT,
            config=Config({"KernelManager": private if os.name == "posix" else {}}),
        )


@contextmanager
def _reading(page: Page) -> Iterator[None]:
    """Kernels that start inside may read the studies that the page names, and no others."""
    if page.studies is not None:
        os.environ[store.READS] = " ".join(page.studies)
    try:
        yield
    finally:
        os.environ.pop(store.READS, None)


def declared(notebook: Path) -> dict[str, Any]:
    """The parameters that a notebook declares in its cell tagged ``parameters``, with their values."""
    import nbformat

    read: Any = nbformat.read  # has no types
    cells = [cell for cell in read(notebook, as_version=4).cells if "parameters" in cell.metadata.get("tags", [])]
    found = {}
    try:
        for line in ast.parse("\n".join(cell.source for cell in cells)).body:
            target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
            if isinstance(target, ast.Name) and isinstance(line, ast.Assign | ast.AnnAssign) and line.value:
                found[target.id] = ast.literal_eval(line.value)
    except ValueError:
        raise BadInput(f"{notebook.name}: the parameters cell may hold literals only") from None
    return found


def check_names(page: Page) -> None:
    """Refuse a parameter that the notebook does not declare; papermill alone would only log it. Those of a params file
    the notebook checks itself."""
    known = declared(page.notebook)
    if unknown := sorted(set(page.params) - set(known) - page.from_file):
        given = f"{page.name}: {page.notebook.name} declares no parameter {', '.join(unknown)}"
        raise BadInput(f"{given}: known are {', '.join(sorted(known))}")


def _clean(notebook: Any, page: Page, key: Key) -> None:
    """Keep what the page shows; drop times and paths; replace ``{{words}}`` in the text, so that titles and labels of
    two pages differ."""
    words = {**declared(page.notebook), **page.params, "page": Path(page.name).name}
    for name in ("papermill", "widgets"):  # the state of widgets is for a kernel; a page has their HTML
        notebook.metadata.pop(name, None)
    notebook.metadata["actlab"] = {**key, "page": page.name}
    for index, cell in enumerate(notebook.cells):
        cell.id = f"cell-{index}"
        for name in ("papermill", "execution"):
            cell.metadata.pop(name, None)
        if cell.cell_type == "markdown":
            cell.source = replaced(cell.source, words, f"{page.notebook.name}, cell {index + 1}")
        tags = set(cell.metadata.get("tags", []))
        if tags & {"parameters", "injected-parameters"}:
            cell.metadata["tags"] = sorted({*tags, "remove-cell"})


def _text(notebook: Any) -> str:
    import nbformat

    write: Any = nbformat.writes  # has no types
    return str(write(notebook)) + "\n"


def _explain(error: Exception, page: Page, work: Path) -> str:
    """One line on what went wrong, and where the notebook was left."""
    from papermill import PapermillExecutionError

    about = f"{page.name} (notebooks/{page.notebook.name})"
    if isinstance(error, ActlabError):
        return f"{about}: {error}"
    kept = f"; the notebook as far as it came: {work}" if work.exists() else ""
    if isinstance(error, PapermillExecutionError):
        first = next((line for line in error.source.splitlines() if line.strip()), "")
        return f"{about}: cell {error.cell_index + 1} (`{first.strip()}`): {error.ename}: {error.evalue}{kept}"
    message = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
    return f"{about}: {type(error).__name__}: {message}{kept}"
