"""What lets a run start quickly: one process (Linux) loads the libraries for all workers while this one loads its own.
Imports little."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Of the heap, where Linux has them: a training step in bfloat16 then takes 0.92 to 0.94 of its time."""
METHOD = "forkserver" if sys.platform == "linux" else "spawn"
"""How workers start. Elsewhere system libraries may not survive a fork."""


@contextmanager
def loading() -> Iterator[None]:
    """Load libraries, which leave no garbage to look for and stay until the end: nothing looks through them again."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


def start_fork_server() -> None:
    """Start the process that workers are forked from, unless it runs or workers are spawned. Its libraries read from
    the environment that they have one thread and huge pages; the environment of today reaches each worker when that
    starts."""
    if METHOD != "forkserver":
        return
    kept = dict(os.environ)
    os.environ.update(ONE_THREAD | HUGE_PAGES)
    try:
        forkserver.set_forkserver_preload(["actlab.study.workers.preload"])
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(kept)
