"""What lets a run start quickly: one process (Linux) loads the libraries for all workers while this one loads its own.
Imports little."""

import atexit
import gc
import os
import sys
from multiprocessing import forkserver

ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Of the heap, where Linux has them: a training step in bfloat16 then takes 0.92 to 0.94 of its time."""
METHOD = "forkserver" if sys.platform == "linux" else "spawn"
"""How workers start. Elsewhere system libraries may not survive a fork."""


def expect_no_garbage() -> None:
    """Let Python look for garbage rarely, since imports leave none, and not at all as it ends: a second a process."""
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)


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
