"""What a process does before it trains: its threads, and how its C library handles freed memory. Changes no bit of a result."""

from __future__ import annotations

import ctypes
from functools import cache

import torch

KEEP = {"M_MMAP_MAX": (-4, 0), "M_TRIM_THRESHOLD": (-1, -1), "M_TOP_PAD": (-2, 64 * 2**20)}
"""glibc's ``mallopt`` settings, (number, value): nothing large from ``mmap``, nothing given back, grow by 64 MiB."""


def prepare(threads: int = 1) -> None:
    """Work on so many threads, and keep freed memory."""
    torch.set_num_threads(threads)
    keep_freed_memory()


@cache
def keep_freed_memory() -> bool:
    """Freed memory stays with the process: otherwise each step's large tensors go back to the system and are faulted in again, zeroed, at the next.

    Whether the C library did so: False where it is not glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return all(mallopt(number, value) == 1 for number, value in KEEP.values())
