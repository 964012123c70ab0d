"""idx files: anything under the name of one of MNIST's files is refused before it is parsed; a bomb is not unpacked."""

import zlib
from time import perf_counter

import pytest

from actlab import paths
from actlab.data.fetch import content
from actlab.data.images import MNIST

DOOR = "idx files"


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("ACTLAB_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "mnist").mkdir(parents=True)
    return tmp_path / "data"


def test_a_bomb_is_not_unpacked(data, door):
    """2 GB of zeros in 2 MB: refused after the first bytes that are too many."""
    source = next(iter(MNIST))
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    with (paths.data() / source.file).open("wb") as file:
        packed = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
        again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
        file.write(packed + again * 2047)
    since = perf_counter()
    assert not door.accepts(lambda: content(source), "more than 47,040,016 bytes")
    assert perf_counter() - since < 20
