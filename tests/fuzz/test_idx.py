"""idx files: anything under the name of one of MNIST's files is refused before it is parsed; a bomb is not unpacked."""

import zlib

from actlab.data.fetch import DATASETS, content

DOOR = "idx files"


def test_a_bomb_is_not_unpacked(data_folder, door):
    """2 GB of zeros in 2 MB: refused after the first bytes that are too many."""
    source = DATASETS["mnist"].files[0]
    (data_folder / "mnist").mkdir(parents=True)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    packed, again = (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    (data_folder / source.file).write_bytes(packed + again * 2047)
    assert not door.accepts(lambda: content(source), "more than 47,040,016 bytes")
