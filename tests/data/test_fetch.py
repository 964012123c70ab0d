"""Data files: verified on every use, downloaded only where missing, and errors that say the ways out."""

import hashlib
import re

import pytest

from actlab.data.fetch import DATASETS, Source, fetch
from actlab.errors import DataError

CONTENT = b"To be, or not to be\n"
SOURCE = Source(
    "shakespeare", "folder/play.txt", "https://example.org/play.txt", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT)
)


def refused(*parts):
    with pytest.raises(DataError) as caught:
        fetch(SOURCE)
    assert [part for part in parts if part not in str(caught.value)] == []


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x", CONTENT.replace(b"To", b"to"), b""])
def test_wrong_bytes_are_refused(data_folder, content):
    """A truncated, extended, altered or empty file is an error with both checksums and the command that helps."""
    path = data_folder / SOURCE.file
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    found = hashlib.sha256(content).hexdigest()
    refused(str(path), SOURCE.sha256, found, "actlab data get shakespeare")


def test_missing_data_says_the_three_ways_out(data_folder):
    """Without file and network: the cause, ACTLAB_DATA, the download elsewhere, and the data sets that need none."""
    ways = "ConnectionError", "ACTLAB_DATA", "actlab data get shakespeare", "treasure", "digits"
    refused(SOURCE.file, str(data_folder), *ways)


def test_a_download_is_asked_for_by_checksum(data_folder, monkeypatch):
    """The downloader is given the address, the sha256 and the file's place in the data folder."""
    asked = []

    def retrieve(url, known_hash, fname, path, progressbar):
        asked.append((url, known_hash))
        path.mkdir(parents=True)
        (path / fname).write_bytes(CONTENT)

    monkeypatch.setattr("pooch.retrieve", retrieve)
    assert fetch(SOURCE).read_bytes() == CONTENT
    assert fetch(SOURCE) == data_folder / SOURCE.file
    assert asked == [(SOURCE.url, f"sha256:{SOURCE.sha256}")]


@pytest.mark.data("tinyshakespeare/input.txt")
def test_the_real_file_fits_its_source():
    """Size and checksum in the table are those of the published file."""
    (source,) = DATASETS["shakespeare"].files
    assert fetch(source).stat().st_size == source.size


def test_downloads_are_https_with_a_checksum():
    """Of every file of every data set."""
    listed = [source for row in DATASETS.values() for source in row.files]
    assert len(listed) > 100
    assert all(source.url.startswith("https://") and re.fullmatch("[0-9a-f]{64}", source.sha256) for source in listed)
