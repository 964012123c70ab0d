"""Execution of the notebooks whose inputs changed, in parallel, by papermill, each with its checks. Either a whole page
is left or none."""

import json
import logging
import os
import sys
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from itertools import takewhile
from multiprocessing import get_context
from pathlib import Path

import nbformat
from filelock import FileLock

from _ext.pages import FOLDER, Page, load_pages
from actlab import files, paths
from actlab.errors import ActlabError
from actlab.study.workers.startup import ONE_THREAD

TIMEOUT = 1200
"""Seconds for one cell."""
WORKERS = "ACTLAB_BOOK_WORKERS"
"""Environment variable: notebooks executed at once; one a core where it is not set."""

CHECKS = "import json\nfrom actlab.checks import failures\nprint(json.dumps(failures({!r}, globals())))"
"""The last cell of a page, which is not shown."""
LEAD = "lead"
"""Tag of the cell whose picture a page shows first."""
PARAMETERS = {"parameters", "injected-parameters"}
"""Tags of the cells that say which run a page shows."""


class BookError(ActlabError):
    """Notebooks that failed: each is named with its cell and its error."""


def execute_stale(root: Path = paths.ROOT) -> list[Path]:
    """Execute the pages whose inputs changed, ``WORKERS`` notebooks at once (one a core) on one thread each, and print
    how each ended; remove what no entry names; return the pages written.

    Raises:
        BookError: one or more notebooks failed; the other pages are written all the same.
    """
    paths.cache().mkdir(parents=True, exist_ok=True)
    with FileLock(paths.cache() / "book.lock"):
        pages = load_pages(root)
        for path in {*(root / "book" / FOLDER).glob("*.ipynb")} - {page.path for page in pages}:
            path.unlink()
        stale = [page for page in pages if page.stale()]
        workers, failed = int(os.environ.get(WORKERS) or os.cpu_count() or 1), []
        with ProcessPoolExecutor(workers, get_context("spawn"), one_thread) as pool:
            made: dict[Future[None], str] = {pool.submit(make, page): page.page for page in stale}
            for number, future in enumerate(as_completed(made), start=1):
                error = future.exception()
                if error:
                    failed.append(str(error))
                print(f"{number} of {len(stale)}: {made[future]} {'failed' if error else 'done'}", flush=True)
    if failed:
        raise BookError("\n".join(sorted(failed)))
    return [page.path for page in stale]


def one_thread() -> None:
    """For a worker process and the kernels that it starts: each notebook has one core."""
    os.environ.update(ONE_THREAD, PYDEVD_DISABLE_FILE_VALIDATION="1")


def make(page: Page) -> None:
    """Execute a page's notebook and its checks, and lay the result in the book. What does not hold is kept in its
    metadata, so that every build says it.

    Raises:
        BookError: the page, its cell, the error, and where the notebook was left.
    """
    import papermill

    made_from, work = page.made_from(), paths.cache() / "book" / f"{Path(page.page).name}.ipynb"
    notebook = nbformat.read(page.source, 4)
    checked = page.checks.exists()
    if checked:
        notebook.cells.append(nbformat.v4.new_code_cell(CHECKS.format(str(page.checks))))
    files.write_text(work, nbformat.writes(notebook))
    logging.getLogger("papermill").setLevel(logging.ERROR)  # it warns of every parameter that has a default here
    try:
        notebook = papermill.execute_notebook(
            work,
            work,
            page.values,
            kernel_name="python3",
            cwd=page.source.parent,
            progress_bar=False,
            execution_timeout=TIMEOUT,
            request_save_on_cell_execute=False,  # else papermill writes the whole notebook twice a cell
            extra_arguments=["--IPKernelApp.log_level=CRITICAL", "--PNGFormatter.enabled=False"],  # pages show SVG
        )
    except Exception as error:  # of a cell; of its kernel, which has no memory left, say
        cell, said = "", f"{type(error).__name__}: {error}"
        if isinstance(error, papermill.PapermillExecutionError):
            cell = f"  cell {error.cell_index + 1}: {error.source.strip().partition(chr(10))[0]}\n"
            said = f"{error.ename}: {error.evalue}"
        where = f"{page.page} (notebooks/{page.notebook}.ipynb)\n{cell}"
        raise BookError(f"{where}  {said}\n  the notebook as far as it came: {work}") from None
    not_held = json.loads(notebook.cells.pop().outputs[-1].text) if checked else []
    fold_parameters(notebook.cells)
    notebook.cells = few_folds(picture_first(notebook.cells))
    for name in ("papermill", "widgets"):  # paths, times and the state of widgets, of which the page has the HTML
        notebook.metadata.pop(name, None)
    notebook.metadata |= {"made_from": made_from, "not_held": not_held}
    files.write_text(page.path, nbformat.writes(notebook) + "\n")
    work.unlink()


def not_held(root: Path = paths.ROOT) -> list[str]:
    """A line for each number of the executed pages that the records here do not hold."""
    lines = []
    for page in load_pages(root):
        if page.path.exists():
            kept = json.loads(page.path.read_text(encoding="utf-8"))["metadata"].get("not_held", [])
            lines += [f"{page.page}: {line}; the page may be out of date" for line in kept]
    return lines


def fold_parameters(cells: list[nbformat.NotebookNode]) -> None:
    """What the notebook declares and what this page sets are folded. A plan is long, and left to its params file."""
    for cell in cells:
        tags = cell.metadata.get("tags", [])
        if PARAMETERS & {*tags}:
            cell.metadata["tags"] = [*tags, "hide-input"]
            cell.metadata["mystnb"] = {"code_prompt_show": "Parameters", "code_prompt_hide": "Hide the parameters"}
            cell.source = "\n".join(line for line in cell.source.splitlines() if not line.startswith("plan = "))


def picture_first(cells: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Cells in the order of the page: what those tagged ``lead`` show comes directly below the title and the answer,
    their code stays below the code that it needs, and the folded set-up comes below the next text."""
    lead, rest = [], []
    for cell in cells:
        if LEAD not in cell.metadata.get("tags", []):
            rest.append(cell)
            continue
        lead.append(cell)
        if cell.cell_type == "code":
            code = nbformat.v4.new_code_cell(cell.source, id=f"{cell.id}-code", metadata={"tags": ["hide-input"]})
            rest.append(code)
            cell.metadata["tags"].append("remove-input")
    set_up = [*takewhile(only_folded, rest[1:])]
    below = rest[1 + len(set_up) :]
    text = below[:1] if below and below[0].cell_type == "markdown" else []
    return rest[:1] + lead + text + set_up + below[len(text) :]


def few_folds(cells: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Folded code that shows nothing becomes the beginning of folded code directly below it; parameters stay apart."""
    kept: list[nbformat.NotebookNode] = []
    for cell in cells:
        joins = cell.cell_type == "code" and "hide-input" in cell.metadata.get("tags", [])
        if joins and kept and only_folded(kept[-1]) and not PARAMETERS & {*kept[-1].metadata["tags"]}:
            cell.source = f"{kept.pop().source}\n\n{cell.source}"
        kept.append(cell)
    return kept


def only_folded(cell: nbformat.NotebookNode) -> bool:
    """A code cell of which the page shows nothing before it is unfolded."""
    tags = cell.metadata.get("tags", [])
    return cell.cell_type == "code" and "hide-input" in tags and "remove-input" not in tags and not cell.outputs


if __name__ == "__main__":  # cd book && python -m _ext.execute corner: the pages of these notebooks, stale or not
    for page in load_pages():
        if page.notebook in sys.argv[1:]:
            make(page)
            print(f"{page.page} is made")
    print(*not_held(), sep="\n")
