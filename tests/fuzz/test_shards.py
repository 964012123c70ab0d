"""Token shards: any bytes under the name of a shard are read whole or refused by name; nothing is read that the header
does not cover."""

import os

import numpy as np
import pytest
from damage import DAMAGE
from hypothesis import given
from hypothesis import strategies as st

from actlab.data.tokens import HEADER, MAGIC, TokenStream, check_range, load_tokens, read_shard, write_shard
from actlab.errors import DataError
from actlab.trainers.windows import cover, spread

DOOR = "token shards"
headers = st.tuples(
    st.sampled_from([MAGIC]) | st.integers(-(2**31), 2**31 - 1),
    st.sampled_from([1, 1, 1, 2]) | st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 40) | st.integers(-(2**31), 2**31 - 1),
)


def use(path, block):
    """All that a study does with a shard."""
    tokens = read_shard(path)
    assert tokens.shape == (int(np.fromfile(path, "<i4", 3)[2]),)
    check_range(path, 65536)
    TokenStream([path], block, 2).batch(0)
    cover(load_tokens([path]), block)
    spread(load_tokens([path]), block, 3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "train_000.bin"


@given(header=headers, rest=st.binary(max_size=120), block=st.integers(1, 12))
def test_any_header(header, rest, block, path, door):
    values = np.zeros(HEADER, "<i4")
    values[:3] = header
    path.write_bytes(values.tobytes() + rest)
    door.accepts(lambda: use(path, block), path.name, "tokens", "characters")


@given(tokens=st.lists(st.integers(0, 65535), max_size=50), damage=DAMAGE, block=st.integers(1, 12))
def test_a_damaged_shard(tokens, damage, block, path, door):
    """Also cut within its header."""
    write_shard(path, np.array(tokens, dtype=int))
    path.write_bytes(damage(path.read_bytes()))
    door.accepts(lambda: use(path, block), path.name, "tokens", "characters")


def test_a_pipe_is_no_shard(path):
    """And is not waited for."""
    os.mkfifo(path)
    with pytest.raises(DataError, match="it is not a regular file"):
        read_shard(path)
