"""Token shards: ``.bin`` files as of llm.c and modded-nanogpt, and training batches from them. Knows no tokenizer.

A shard is 256 int32 (magic 20240520, version 1, number of tokens, zeros), then that many uint16 tokens, little-endian.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from actlab.errors import BadInput, DataError
from actlab.files import write_bytes

MAGIC, VERSION, HEADER = 20240520, 1, 256

Tokens = NDArray[np.uint16]


def write_shard(path: Path, tokens: ArrayLike) -> Path:
    """Write one shard, in place all at once or not at all."""
    values, header = np.asarray(tokens, dtype="<u2"), np.zeros(HEADER, dtype="<i4")
    header[:3] = MAGIC, VERSION, len(values)
    return write_bytes(path, header.tobytes() + values.tobytes())


def read_shard(path: Path) -> Tokens:
    """Map the tokens of a shard, (n,) uint16, from the file: nothing is read before it is used.

    Raises:
        DataError: another format or version, or another length than the header says.
    """
    header, count = np.fromfile(path, dtype="<i4", count=HEADER), (path.stat().st_size - 4 * HEADER) // 2
    if header[:3].tolist() != [MAGIC, VERSION, count]:
        raise DataError(f"{path} is damaged, or no token shard: `actlab data tokenize` writes them")
    return np.memmap(path, dtype="<u2", mode="r", offset=4 * HEADER, shape=(count,))


def find_shards(folder: Path, split: str) -> list[Path]:
    """List the shards of a split, in the order of their names: ``*train*.bin`` or ``*val*.bin`` (FineWeb's names fit
    too)."""
    shards = sorted(folder.glob(f"*{split}*.bin"))
    if not shards:
        raise DataError(
            f"no *{split}*.bin in {folder}: make shards with `actlab data tokenize`, or put FineWeb's there"
        )
    return shards


def load_tokens(files: Sequence[Path]) -> Tensor:
    """Read all tokens of the shards, (n,) int32: for validation splits, which fit memory."""
    return torch.from_numpy(np.concatenate([read_shard(path).astype(np.int32) for path in files]))


class TokenStream:
    """Batches over shards, window after window, epoch after epoch, each by its number: a stream has no state.

    A window is T + 1 tokens, of which the next one repeats the last; none crosses the end of a shard. An epoch is every
    window once.

    Args:
        files: the shards.
        block_size: T.
        batch_size: B.
        order: epoch -> the generator that shuffles its windows.
    """

    def __init__(
        self, files: Sequence[Path], block_size: int, batch_size: int, order: Callable[[int], torch.Generator]
    ) -> None:
        self.shards = [read_shard(path) for path in files]
        self.block_size, self.batch_size, self.order = block_size, batch_size, order
        self.ends = np.cumsum([max(len(shard) - 1, 0) // block_size for shard in self.shards])
        self.windows = int(self.ends[-1])
        """Windows of an epoch."""
        if not self.windows:
            raise BadInput(f"no window of {block_size + 1} tokens in {sum(map(len, self.shards)):,} tokens")
        self._permutation = lru_cache(maxsize=2)(self._shuffled)

    def batch(self, number: int) -> tuple[Tensor, Tensor]:
        """Cut batch ``number`` (from 0): (inputs, targets), both (B, T) int64, targets one token ahead."""
        rows = [self._window(number * self.batch_size + row) for row in range(self.batch_size)]
        tokens = torch.from_numpy(np.stack(rows).astype(np.int64))
        return tokens[:, :-1], tokens[:, 1:]

    def _window(self, number: int) -> Tokens:
        epoch, place = divmod(number, self.windows)
        index = int(self._permutation(epoch)[place])
        shard = int(np.searchsorted(self.ends, index, side="right"))
        start = (index - (int(self.ends[shard - 1]) if shard else 0)) * self.block_size
        return self.shards[shard][start : start + self.block_size + 1]

    def _shuffled(self, epoch: int) -> NDArray[np.int64]:
        return torch.randperm(self.windows, generator=self.order(epoch)).numpy()
