"""Execution of the notebooks whose inputs changed, in parallel, by papermill. Either a whole page is left or none."""

import logging
import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from filelock import FileLock

from actlab import files, paths
from actlab.book.pages import FOLDER, Page, load_pages
from actlab.errors import ActlabError
from actlab.records import store
from actlab.study.workers.startup import ONE_THREAD

TIMEOUT = 1200
"""Seconds for one cell."""
WORKERS = "ACTLAB_BOOK_WORKERS"
"""Environment variable: notebooks executed at once; one a core where it is not set."""

LEAD = "lead"
"""Tag of the cell whose picture a page shows first."""


class BookError(ActlabError):
    """Notebooks that failed: each is named with its cell and its error."""

    longest = 20_000


def execute_stale(root: Path = paths.ROOT) -> list[Path]:
    """Execute the pages whose inputs changed, ``WORKERS`` notebooks at once (one a core) on one thread each, and print
    which, why, and how each ended; remove what no entry names; return the pages written.

    Raises:
        BadInput: an entry of ``pages.yaml`` that cannot be meant so; nothing has been executed.
        BookError: one or more notebooks failed; the other pages are written all the same.
    """
    paths.cache().mkdir(parents=True, exist_ok=True)
    with FileLock(paths.cache() / "book.lock"):
        pages = load_pages(root)
        for path in {*(root / "book" / FOLDER).glob("*.ipynb")} - {page.path for page in pages}:
            path.unlink()
        stale = []
        for page in pages:
            if new := page.changed():
                print(f"{page.name} is to be executed: new {', '.join(new)}", flush=True)
                stale.append(page)
        stale.sort(key=lambda page: -sum(path.stat().st_size for path in page.every_file()))  # the longest first
        workers, failed = int(os.environ.get(WORKERS) or os.cpu_count() or 1), []
        with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), one_thread) as pool:
            made = {pool.submit(make, page): page.name for page in stale}
            for number, future in enumerate(as_completed(made), start=1):
                failed += [str(error)] if (error := future.exception()) else []
                print(f"{number} of {len(stale)}: {made[future]} {'failed' if error else 'done'}", flush=True)
    if failed:
        raise BookError("\n".join(sorted(failed)))
    return [page.path for page in stale]


def one_thread() -> None:
    """For a worker process and the kernels that it starts: each notebook has one core."""
    os.environ.update(ONE_THREAD, PYDEVD_DISABLE_FILE_VALIDATION="1")


def make(page: Page) -> None:
    """Execute a page's notebook and lay the result in the book; its kernel may read the studies that the page names,
    and no others.

    Raises:
        BookError: whatever went wrong, with its cell, and where the notebook was left.
    """
    import nbformat
    from papermill import PapermillExecutionError

    inputs, work = page.inputs(), paths.cache() / "book" / f"{Path(page.name).name}.ipynb"
    work.parent.mkdir(parents=True, exist_ok=True)
    os.environ.pop(store.READS, None)
    if "*" not in page.reads:
        os.environ[store.READS] = " ".join(page.reads)
    try:
        notebook = _execute(page, work)
        if page.checks.exists():
            notebook.cells.pop()
        notebook.cells = picture_first(notebook.cells)
        for name in ("papermill", "widgets"):  # paths, times and the state of widgets, of which the page has the HTML
            notebook.metadata.pop(name, None)
        for cell in notebook.cells:  # what this page sets, folded; the declared parameters above it are open
            if "injected-parameters" in cell.metadata.get("tags", []):
                cell.metadata["tags"] += ["hide-input"]
        notebook.metadata["actlab"] = inputs
        files.write_text(page.path, nbformat.writes(notebook) + "\n")
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        if isinstance(error, PapermillExecutionError):
            first = error.source.strip().partition("\n")[0]
            said = f"cell {error.cell_index + 1} (`{first}`): {error.ename}: {error.evalue}"
            if error.source == checks_of(page):
                said = f"notebooks/checks/{page.checks.name}: {error.evalue}"
        about = f"{page.name} (notebooks/{page.notebook}.ipynb): {said}"
        raise BookError(f"{about}; the notebook as far as it came: {work}") from None
    work.unlink()


def picture_first(cells: list[Any]) -> list[Any]:
    """Cells in the order of the page: the one tagged ``lead``, whose picture needs the cells above it, comes directly
    below the title and the answer."""
    lead = [cell for cell in cells if LEAD in cell.metadata.get("tags", [])]
    rest = [cell for cell in cells if cell not in lead]
    return rest[:1] + lead + rest[1:]


def checks_of(page: Page) -> str:
    """Source of the cell that runs a page's checks after its last one."""
    return f"from actlab.book.checks import run_checks\n\nrun_checks({str(page.checks)!r}, globals())"


def _execute(page: Page, work: Path) -> Any:
    import nbformat
    import papermill
    from traitlets.config import Config

    log = logging.getLogger("papermill")
    log.setLevel(logging.ERROR)  # it warns of every name of a params file that has a default here
    notebook = nbformat.read(page.source, 4)
    if page.checks.exists():
        notebook.cells.append(nbformat.v4.new_code_cell(checks_of(page)))
    files.write_text(work, nbformat.writes(notebook))
    with tempfile.TemporaryDirectory(prefix="actlab-") as sockets:  # else kernels would share them
        private = {"transport": "ipc", "connection_file": f"{sockets}/kernel.json"}
        return papermill.execute_notebook(
            work,
            work,
            page.values,
            kernel_name="python3",
            cwd=page.source.parent,
            progress_bar=False,
            execution_timeout=TIMEOUT,
            config=Config({"KernelManager": private if os.name == "posix" else {}}),
        )


if __name__ == "__main__":  # python -m actlab.book.execute corner: the pages of these notebooks, stale or not
    for page in load_pages():
        if page.notebook in sys.argv[1:]:
            make(page)
            print(f"{page.name} is made, and its numbers hold")
