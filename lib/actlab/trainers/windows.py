"""Fixed evaluation windows over a text, and the training batches: all batches of a trial are known before it starts."""

from __future__ import annotations

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

    def to(self, device: str) -> Windows:
        """The same windows on a device."""
        return Windows(self.inputs.to(device), self.targets.to(device))


def cover(text: Tensor, block_size: int) -> Windows:
    """Windows that predict every character of ``text`` but the first exactly once.

    They stand side by side; the last one is moved back to fit, and the positions that it repeats do not count.
    """
    n = len(text) - 1
    if n < block_size:
        raise BadInput(
            f"the text has {len(text)} characters; a context of {block_size} needs at least {block_size + 1}"
        )
    starts = torch.arange(0, n - block_size + 1, block_size)
    repeated = 0
    if starts[-1] + block_size < n:
        repeated = int(starts[-1]) + block_size - (n - block_size)
        starts = torch.cat([starts, torch.tensor([n - block_size])])
    index = starts[:, None] + torch.arange(block_size)
    targets = text[index + 1].long()
    targets[-1, :repeated] = SKIP
    return Windows(text[index].long(), targets)


def spread(text: Tensor, block_size: int, count: int) -> Windows:
    """``count`` windows evenly spread over ``text``, none overlapping; all of them where the text has fewer."""
    available = (len(text) - 1) // block_size
    if available < 1:
        raise BadInput(
            f"the text has {len(text)} characters; a context of {block_size} needs at least {block_size + 1}"
        )
    starts = torch.linspace(0, available - 1, min(count, available), dtype=torch.float64).round().long() * block_size
    index = starts[:, None] + torch.arange(block_size)
    return Windows(text[index].long(), text[index + 1].long())


def batch_starts(length: int, block_size: int, batch_size: int, iterations: int, generator: torch.Generator) -> Tensor:
    """(iterations, batch_size) random places in a training text of ``length`` characters."""
    if length < block_size + 1:
        raise BadInput(
            f"the training text has {length} characters; a context of {block_size} needs at least {block_size + 1}"
        )
    return torch.randint(length - block_size, (iterations, batch_size), generator=generator)
