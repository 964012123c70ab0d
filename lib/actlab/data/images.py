"""Images of handwritten digits: MNIST from its idx files, and scikit-learn's small digits; tensors and fixed splits."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from actlab.data.fetch import DATASETS, content
from actlab.errors import Table, needs

PROTOCOLS = ("corrected", "as_published")
CLASSES = 10

HELD_OUT = {"mnist": (5_000, 0), "digits": (200, 300)}
"""(validation, test) images held out of those that come without a split; MNIST brings its own 10,000 test images."""


@dataclass(frozen=True)
class Part:
    """``pixels``: (n, K) float32 in [0, 1], one row an image; ``labels``: (n,) int64."""

    pixels: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, places: Tensor) -> "Part":
        return Part(self.pixels[places], self.labels[places])

    @property
    def sha256(self) -> str:
        """Hash pixels and labels: two networks may be compared only where theirs agree."""
        digest = hashlib.sha256(f"{tuple(self.pixels.shape)}".encode())
        digest.update((self.pixels * 255).round().to(torch.uint8).numpy().tobytes())
        digest.update(self.labels.to(torch.uint8).numpy().tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Images:
    """A data set split for training, selection and the report. ``as_published`` selects on the test images:
    ``validation`` is ``test``."""

    train: Part
    validation: Part
    test: Part


def parse_idx(raw: bytes) -> Tensor:
    """Return the uint8 tensor of an idx file whose content is checked: two bytes of 0, the type, how many dimensions;
    the size of each in 4 bytes; the values."""
    sizes = [int.from_bytes(raw[4 * place : 4 * place + 4], "big") for place in range(1, raw[3] + 1)]
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8, offset=4 + 4 * len(sizes)).view(sizes)


def _mnist() -> tuple[Part, Part]:
    pixels, labels, test_pixels, test_labels = (parse_idx(content(source)) for source in DATASETS["mnist"].files)
    return _part(pixels, labels, 255), _part(test_pixels, test_labels, 255)


def _digits() -> tuple[Part, None]:
    with needs("data", "the images `digits`"):
        from sklearn.datasets import load_digits

    bunch = load_digits()
    return _part(torch.tensor(bunch.data), torch.tensor(bunch.target), 16), None


def _part(values: Tensor, labels: Tensor, largest: int) -> Part:
    return Part(values.flatten(1).float() / largest, labels.long())


IMAGES: Table[Callable[[], tuple[Part, Part | None]]] = Table("dataset", [("mnist", _mnist), ("digits", _digits)])


def scattered(name: str, n: int) -> Tensor:
    """Return a fixed permutation of ``n`` places, by the sha256 of each place's name: the same on every machine and in
    every version."""
    return torch.tensor(sorted(range(n), key=lambda i: hashlib.sha256(f"{name}/{i}".encode()).digest()))


@lru_cache(maxsize=2)
def load_images(name: str, protocol: str = "corrected") -> Images:
    """Load the named data set and split it.

    Args:
        name: ``mnist`` (55,000 / 5,000 / 10,000 images of 784 pixels) or ``digits`` (1,297 / 200 / 300 of 64 pixels).
        protocol: ``corrected`` holds validation images out of the training ones; ``as_published`` trains on all of
            these and takes the test images for validation too.

    Raises:
        UnknownName: no such data set.
        DataError: a file is missing or damaged.
    """
    rest, test = IMAGES[name]()
    order = scattered(name, len(rest))
    validation, held_out = HELD_OUT[name]
    if test is None:
        test, order = rest[order[:held_out]], order[held_out:]
    if protocol == "as_published":
        return Images(rest[order.sort().values], test, test)
    return Images(rest[order[validation:].sort().values], rest[order[:validation].sort().values], test)
