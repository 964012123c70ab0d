"""Images: splits, and what a missing, damaged or wrong file is answered with."""

import pytest
import torch

from actlab.data.images import load_images, parse_idx, scattered


def test_an_idx_file_is_read_behind_its_header():
    sizes = b"".join(size.to_bytes(4, "big") for size in (2, 3, 4))
    assert parse_idx(b"\0\0\x08\x03" + sizes + bytes(range(24))).equal(torch.arange(24).view(2, 3, 4))


def test_digits_need_no_file():
    images = load_images("digits")
    assert list(map(len, (images.train, images.validation, images.test))) == [1297, 200, 300]
    assert images.train.pixels.shape[1] == 64
    assert images.train.pixels.aminmax() == (0, 1)
    assert images.test.labels.unique().tolist() == list(range(10))


def test_splits_are_fixed():
    """By name, not by a random number generator, whose stream a new version may change."""
    assert scattered("digits", 8).tolist() == [5, 1, 4, 0, 2, 7, 3, 6]
    assert load_images("digits").test.sha256 == load_images("digits", "as_published").test.sha256


@pytest.mark.data("mnist")
def test_the_real_files():
    """Counts per class of LeCun, Cortes & Burges' files; some images of the training part are held out."""
    images, corrected = load_images("mnist", "as_published"), load_images("mnist")
    parts = torch.cat([corrected.train.labels, corrected.validation.labels])
    assert parts.bincount().equal(images.train.labels.bincount())
    assert list(map(len, (corrected.train, corrected.validation, corrected.test))) == [55_000, 5_000, 10_000]
    assert images.train.labels.bincount().tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert images.test.labels.bincount().tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert images.train.pixels.mean().item() == pytest.approx(0.1307, abs=1e-4)
