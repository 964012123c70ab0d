"""Images: splits, and what a missing, damaged or wrong file is answered with."""

import gzip
import hashlib
import struct

import pytest
import torch

from actlab.data import images as module
from actlab.data.fetch import Source
from actlab.data.images import MNIST, load_images, parse_idx, scattered
from actlab.errors import UnknownName


def idx(values):
    """An idx file's bytes, written independently of the reader."""
    return (
        bytes([0, 0, 8, values.dim()])
        + b"".join(struct.pack(">i", n) for n in values.shape)
        + bytes(values.flatten().int().tolist())
    )


@pytest.fixture
def small_mnist(tmp_path, monkeypatch):
    """A data folder with four idx files of 60 + 20 tiny images, and the table that describes them."""
    source = torch.Generator().manual_seed(0)
    table = {}
    for (real, shape), n in zip(MNIST.items(), (60, 60, 20, 20), strict=True):
        size = (n, 4, 4) if len(shape) == 3 else (n,)
        raw = idx(torch.randint(10, size, generator=source))
        path = tmp_path / real.file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(raw))
        table[Source("mnist", real.file, real.url, hashlib.sha256(raw).hexdigest(), len(raw))] = size
    monkeypatch.setenv("ACTLAB_DATA", str(tmp_path))
    monkeypatch.setattr(module, "MNIST", table)
    monkeypatch.setitem(module.HELD_OUT, "mnist", (5, 0))
    load_images.cache_clear()
    yield tmp_path / "mnist"
    load_images.cache_clear()


def rows(part):
    return {tuple(row) for row in part.pixels.tolist()}


def test_reads_what_was_written():
    values = torch.arange(24, dtype=torch.uint8).view(2, 3, 4)
    assert torch.equal(parse_idx(idx(values), (2, 3, 4)), values)


def test_split_of_mnist(small_mnist):
    images = load_images("mnist")
    assert [len(part) for part in (images.train, images.validation, images.test)] == [55, 5, 20]
    assert images.features == 16
    assert images.train.pixels.max() <= 1
    assert not rows(images.train) & rows(images.validation)


def test_another_gzip_wrapper_is_the_same_data(small_mnist):
    """The checksum is of the uncompressed bytes."""
    before = load_images("mnist").train.sha256
    path = small_mnist / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()), compresslevel=1, mtime=7))
    load_images.cache_clear()
    assert load_images("mnist").train.sha256 == before


def test_digits_need_no_file():
    images = load_images("digits")
    assert [len(part) for part in (images.train, images.validation, images.test)] == [1297, 200, 300]
    assert images.features == 64
    assert images.train.pixels.min() == 0
    assert images.train.pixels.max() == 1
    assert set(images.test.labels.tolist()) == set(range(10))


def test_splits_are_fixed():
    """By name, not by a random number generator, whose stream a new version may change."""
    assert scattered("digits", 8).tolist() == [5, 1, 4, 0, 2, 7, 3, 6]
    assert load_images("digits").test.sha256 == load_images("digits", "as_published").test.sha256


def test_an_unknown_protocol_is_refused():
    with pytest.raises(UnknownName, match=r"unknown protocol 'fair'.*as_published, corrected"):
        load_images("digits", "fair")


@pytest.mark.data("mnist")
def test_the_real_files():
    """Counts per class of LeCun, Cortes & Burges' files."""
    images = load_images("mnist", "as_published")
    assert images.train.labels.bincount().tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert images.test.labels.bincount().tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert images.train.pixels.mean().item() == pytest.approx(0.1307, abs=1e-4)
