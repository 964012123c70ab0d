"""Timing by turns: several works alternate, each in a process of its own, so that a slow spell of the machine meets
all."""

import multiprocessing
import re
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import torch

_works = {}


def _start(make):
    global _works
    torch.set_num_threads(1)
    _works = make()
    for work in _works.values():
        work()


def _seconds(name):
    """CPU time of one call, so that other work on the machine counts little."""
    since = time.process_time()
    _works[name]()
    return time.process_time() - since


def bfloat16_arithmetic():
    """Whether this processor multiplies bfloat16 numbers itself; without that training in bfloat16 is slower than in
    float32, not faster."""
    found = getattr(torch.cpu, "get_capabilities", dict)()  # from PyTorch 2.12 on
    return (
        any(there is True for name, there in found.items() if "bf16" in name) or torch.cpu._is_avx512_bf16_supported()
    )


def peak_megabytes():
    """Most memory that this process has held, in MB (Linux; NaN elsewhere). Not ``ru_maxrss``, which a child inherits
    from its parent."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    return int(found[1]) / 1000 if found else float("nan")


def apart(makers, rounds):
    """Each maker's works in a process of their own, on one thread, taking turns: CPU seconds a call of ``training``
    and of ``evaluation``, by round, and the process's ``peak_mb``.

    Args:
        makers: name -> an importable function (or a ``partial`` of one) that sets a process up and returns its works.
        rounds: turns; a call of every work before the first is not counted.
    """
    spawn = multiprocessing.get_context("spawn")
    with ExitStack() as stack:
        pools = {
            name: stack.enter_context(ProcessPoolExecutor(1, mp_context=spawn, initializer=_start, initargs=(make,)))
            for name, make in makers.items()
        }
        found = {name: {"training": [], "evaluation": []} for name in pools}
        for _ in range(rounds):
            for name, pool in pools.items():
                for work, seconds in found[name].items():
                    seconds.append(pool.submit(_seconds, work).result())
        for name, pool in pools.items():
            found[name]["peak_mb"] = pool.submit(peak_megabytes).result()
    return found
