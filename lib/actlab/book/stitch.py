"""Brings every executed page up to date: what is stale is executed, in parallel, what no entry names is removed."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from actlab import paths
from actlab.book.execute import Made, check_names, make, one_thread
from actlab.book.keys import Key, changed, code_key, key_of
from actlab.book.pages import FOLDER, Page, load_pages
from actlab.errors import ActlabError


class BookError(ActlabError):
    """Notebooks that failed: each is named with its cell and its error."""


@dataclass(frozen=True)
class Stale:
    """A page to be executed, and why."""

    page: Page
    key: Key
    reasons: list[str]


@dataclass(frozen=True)
class Event:
    """Something that a display may show: what is to be done (``stale``), or how one page ended (``made``)."""

    stale: tuple[Stale, ...] = ()
    made: Made | None = None


Watch = Callable[[Event], None]


def find_stale(root: Path = paths.ROOT) -> list[Stale]:
    """The pages whose inputs are not those with which they were made."""
    code = code_key()
    found = [(page, key := key_of(page, code), changed(page, key)) for page in load_pages(root)]
    return [Stale(page, key, reasons) for page, key, reasons in found if reasons]


def execute_stale(
    workers: int = os.cpu_count() or 1, watch: Watch | None = None, root: Path = paths.ROOT
) -> list[Path]:
    """Execute what is stale, ``workers`` notebooks at once on one thread each; returns the pages written.

    Raises:
        BadInput: an entry of ``pages.yaml`` gives what it cannot; nothing has been executed.
        BookError: one or more notebooks failed; the other pages are written all the same.
    """
    paths.cache().mkdir(parents=True, exist_ok=True)
    with FileLock(paths.cache() / "book.lock"):
        remove_unwanted(root)
        return _execute(find_stale(root), workers, watch or (lambda event: None))


def _execute(stale: list[Stale], workers: int, tell: Watch) -> list[Path]:
    for one in stale:
        check_names(one.page)
    tell(Event(stale=tuple(stale)))
    if not stale:
        return []
    failed = []
    with ProcessPoolExecutor(min(workers, len(stale)), multiprocessing.get_context("spawn"), one_thread) as pool:
        for future in as_completed([pool.submit(make, one.page, one.key) for one in stale]):
            made = future.result()
            tell(Event(made=made))
            if made.error:
                failed.append(made.error)
    if failed:
        raise BookError("\n".join(sorted(failed)))
    return [one.page.path for one in stale]


def remove_unwanted(root: Path = paths.ROOT) -> list[Path]:
    """Remove the executed notebooks that no entry names any more."""
    wanted = {page.path for page in load_pages(root)}
    unwanted = [path for path in sorted((root / "book" / FOLDER).glob("*.ipynb")) if path not in wanted]
    for path in unwanted:
        path.unlink()
    return unwanted
