"""Process set-up before training: threads, how the C library handles freed memory."""

import ctypes
from contextlib import suppress

import torch

KEEP = {-4: 0, -1: -1, -2: 64 * 2**20}
"""glibc's ``mallopt`` settings: nothing large from ``mmap`` (M_MMAP_MAX), nothing given back (M_TRIM_THRESHOLD), grow
by 64 MiB (M_TOP_PAD)."""


def prepare() -> None:
    """Work on one thread, and keep freed memory."""
    torch.set_num_threads(1)
    keep_freed_memory()
    full_float32()


def missing_device(device: str) -> str:
    """What is wrong with training on a device here, in a few words; empty where it is here."""
    kind, _, number = device.partition(":")
    count = getattr(torch, kind).device_count()
    return "" if int(number or 0) < count else f"PyTorch {torch.__version__} finds {count or 'no'} GPU here"


def full_float32() -> None:
    """Convolutions and LSTMs in float32 on a GPU as well, where PyTorch would round their factors to 10 bits (TF32)."""
    torch.backends.cudnn.allow_tf32 = False


def keep_freed_memory() -> None:
    """Ask glibc to keep freed memory with the process: otherwise each step's large tensors go back to the system and
    are faulted in again, zeroed, at the next. Another C library has no such setting."""
    with suppress(OSError, AttributeError, TypeError):
        mallopt = ctypes.CDLL(None).mallopt
        for number, value in KEEP.items():
            mallopt(number, value)
