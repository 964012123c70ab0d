"""Process set-up before training: threads, how the C library handles freed memory, bfloat16 on this processor."""

import ctypes
from collections.abc import Iterable
from functools import cache
from timeit import repeat

import torch
from torch import Tensor, nn

from actlab.errors import BadInput

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
    if device == "mps":
        return "" if torch.backends.mps.is_available() else f"PyTorch {torch.__version__} finds no Apple GPU here"
    if device == "cpu":
        return ""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    there = int(device.partition(":")[2] or 0) < count
    return "" if there else f"PyTorch {torch.__version__} finds {count or 'no'} GPU here"


def full_float32() -> None:
    """Convolutions and LSTMs in float32 on a GPU as well, where PyTorch would round their factors to 10 bits (TF32)."""
    torch.backends.cudnn.allow_tf32 = False


@cache
def bfloat16_arithmetic() -> bool:
    """Whether this processor multiplies bfloat16 numbers itself; without that training in bfloat16 is slower than in
    float32, not faster."""
    found: dict[str, object] = getattr(torch.cpu, "get_capabilities", dict)()  # from PyTorch 2.12 on
    return (
        any(there is True for name, there in found.items() if "bf16" in name) or torch.cpu._is_avx512_bf16_supported()
    )


def check_bfloat16(models: Iterable[nn.Module]) -> str:
    """What to say before these models are trained in bfloat16 on this CPU; empty where it is fast.

    Raises:
        BadInput: one of them has an LSTM, and this processor has no bfloat16 kernel for it.
    """
    no_lstm = not bfloat16_arithmetic() and not torch.ops.mkldnn._is_mkldnn_bf16_supported()
    for model in models:
        if no_lstm and any(isinstance(part, nn.LSTM) for part in model.modules()):
            found = f"{type(model).__name__} has an LSTM, which this processor cannot train in bfloat16"
            raise BadInput(f"dtype=bfloat16: {found}; allowed: float32")
    if not bfloat16_arithmetic():
        return "this processor has no bfloat16 arithmetic: training in it will be several times slower than in float32"
    x = torch.ones(512, 512)
    ratio = seconds_of_product(x.bfloat16()) / seconds_of_product(x)  # some have the instructions and are slower
    product = f"a matrix product takes {ratio:.1f} times as long in bfloat16 as in float32 on this processor"
    return f"{product}: training in bfloat16 will be slower here" if ratio > 1 else ""


def seconds_of_product(x: Tensor) -> float:
    """The fastest of five products of a square matrix with itself."""
    return min(repeat(lambda: x @ x, number=1, repeat=5))


@cache
def keep_freed_memory() -> bool:
    """Freed memory stays with the process: otherwise each step's large tensors go back to the system and are faulted in
    again, zeroed, at the next.

    Whether the C library did so: False where it is not glibc.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return all(mallopt(number, value) == 1 for number, value in KEEP.items())
