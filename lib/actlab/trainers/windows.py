"""Fixed evaluation windows over a text, and the training batches: all batches of a trial are known before it starts."""

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor

from actlab.errors import BadInput
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import generator

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


def cover(text: Tensor, block_size: int) -> Windows:
    """Windows that predict every character of ``text`` but the first exactly once.

    They stand side by side; the last one is moved back to fit, and the positions that it repeats do not count.
    """
    last = _last_start(len(text), block_size)
    starts = torch.arange(0, last + block_size, block_size)
    windows = _windows(text, starts.clamp(max=last), block_size)
    windows.targets[-1, : starts[-1] - last] = SKIP
    return windows


def spread(text: Tensor, block_size: int, count: int) -> Windows:
    """``count`` windows evenly spread over ``text``, none overlapping; all of them where the text has fewer."""
    available = _last_start(len(text), block_size) // block_size + 1
    places = torch.linspace(0, available - 1, min(count, available), dtype=torch.float64)
    return _windows(text, places.round().long() * block_size, block_size)


class RandomWindows:
    """The batches of a training on characters, each by its number: all are known before it starts.

    Args:
        text: (n,) character numbers of the training split.
        block_size: T.
        recipe: batches, and the device on which they lie.
        seed: of the stream ``order``.
    """

    def __init__(self, text: Tensor, block_size: int, recipe: Recipe, seed: int) -> None:
        places, device = _last_start(len(text), block_size) + 1, recipe.device
        batches = recipe.iterations, recipe.batch_size
        self.starts = torch.randint(places, batches, generator=generator(seed, "order")).to(device)
        self.text, self.span = text.to(device), torch.arange(block_size + 1, device=device)

    def batch(self, number: int) -> tuple[Tensor, Tensor]:
        """(inputs, targets) of batch ``number`` (from 0), both (B, T) int64, targets one character ahead."""
        windows = self.text[self.starts[number][:, None] + self.span].long()  # (B, T + 1)
        return windows[:, :-1], windows[:, 1:]


def _last_start(length: int, block_size: int) -> int:
    """Where the last window begins, with its target after it."""
    if length < block_size + 1:
        raise BadInput(f"the text has {length} characters; a context of {block_size} needs at least {block_size + 1}")
    return length - 1 - block_size


def _windows(text: Tensor, starts: Tensor, block_size: int) -> Windows:
    index = starts[:, None] + torch.arange(block_size)
    return Windows(text[index].long(), text[index + 1].long())
