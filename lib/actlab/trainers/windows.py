"""Fixed evaluation windows over a text, and the training batches: all batches of a trial are known before it starts."""

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor

from actlab.errors import BadInput

SKIP = -100
"""Target that counts for nothing (``cross_entropy``'s ``ignore_index``)."""


@dataclass(frozen=True)
class Windows:
    """W windows of T characters: ``inputs`` and ``targets`` are (W, T) int64; a target of ``SKIP`` does not count."""

    inputs: Tensor
    targets: Tensor

    @property
    def positions(self) -> int:
        """How many targets count."""
        return int((self.targets != SKIP).sum())

    @property
    def sha256(self) -> str:
        """Of inputs and targets: two trials may be compared only if theirs agree."""
        digest = hashlib.sha256(f"{tuple(self.inputs.shape)}".encode())
        for tensor in (self.inputs, self.targets):
            digest.update(tensor.cpu().to(torch.int32).numpy().tobytes())
        return digest.hexdigest()

    def to(self, device: str) -> "Windows":
        """The same windows on a device."""
        return Windows(self.inputs.to(device), self.targets.to(device))


def cover(text: Tensor, block_size: int) -> Windows:
    """Windows that predict every character of ``text`` but the first exactly once.

    They stand side by side; the last one is moved back to fit, and the positions that it repeats do not count.
    """
    last = _last_start(len(text), block_size)
    starts = torch.arange(0, last + 1, block_size)
    repeated = int(starts[-1]) + block_size - last if starts[-1] < last else 0
    windows = _windows(text, torch.cat([starts, torch.tensor([last])]) if repeated else starts, block_size)
    windows.targets[-1, :repeated] = SKIP
    return windows


def spread(text: Tensor, block_size: int, count: int) -> Windows:
    """``count`` windows evenly spread over ``text``, none overlapping; all of them where the text has fewer."""
    available = _last_start(len(text), block_size) // block_size + 1
    places = torch.linspace(0, available - 1, min(count, available), dtype=torch.float64)
    return _windows(text, places.round().long() * block_size, block_size)


def batch_starts(length: int, block_size: int, batch_size: int, iterations: int, generator: torch.Generator) -> Tensor:
    """(iterations, batch_size) random places in a training text of ``length`` characters."""
    return torch.randint(_last_start(length, block_size) + 1, (iterations, batch_size), generator=generator)


def _last_start(length: int, block_size: int) -> int:
    """Where the last window begins, with its target after it."""
    if length < block_size + 1:
        raise BadInput(f"the text has {length} characters; a context of {block_size} needs at least {block_size + 1}")
    return length - 1 - block_size


def _windows(text: Tensor, starts: Tensor, block_size: int) -> Windows:
    index = starts[:, None] + torch.arange(block_size)
    return Windows(text[index].long(), text[index + 1].long())
