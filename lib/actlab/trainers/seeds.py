"""Named random streams: each use of randomness has a seed of its own, derived from (seed, stream name)."""

import hashlib
from collections.abc import Callable

import torch


def derive(seed: int, stream: str) -> int:
    """A 63-bit seed for the named stream; streams of different names or seeds are unrelated."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{stream}".encode()).digest()[:8], "little") >> 1


def generator(seed: int, stream: str) -> torch.Generator:
    """A CPU generator at the start of the named stream."""
    return torch.Generator().manual_seed(derive(seed, stream))


def init_streams(seed: int) -> Callable[[str], torch.Generator]:
    """Parameter name -> the generator that fills it."""
    return lambda parameter: generator(seed, f"init/{parameter}")
