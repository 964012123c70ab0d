"""Checkpoints and cached trials: a flipped bit, a missing end or any other bytes are noticed and set aside; no bit of a
result changes."""

import pytest
import tiny
import torch
from damage import DAMAGE
from hypothesis import given
from hypothesis import strategies as st

from actlab.trainers import checkpoint
from actlab.trainers.checkpoint import read_tensors, write_tensors

DOOR = "checkpoints"
TENSORS = {"model/a": torch.arange(6.0).view(2, 3), "random/cpu": torch.arange(9, dtype=torch.uint8)}
ABOUT = {"iteration": 3, "history": [{"loss": 1.5}]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.checkpoint"


@given(damage=DAMAGE)
def test_every_damage_is_noticed(damage, path, door):
    """Weights, metadata and header: what is read is what was written, or it is an error with the file's name."""
    write_tensors(path, TENSORS, ABOUT)
    path.write_bytes(damage(path.read_bytes()))
    if door.accepts(lambda: read_tensors(path), path.name):  # a bit of the header's padding, which holds nothing
        tensors, about = read_tensors(path)
        assert about == ABOUT
        assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


names = st.sampled_from(["model/head.weight", "optimizer/0/step", "optimizer/x/y", "optimizer/999/step", "stray"])
values = st.sampled_from([torch.zeros(2, 3), torch.zeros(()), torch.zeros(5000, dtype=torch.uint8), torch.zeros(0)])


@given(changes=st.dictionaries(names, st.none() | values, min_size=1, max_size=3))
def test_a_whole_file_of_something_else(changes, path, door):
    """With a right checksum, but of another model or optimizer: an error that names it, or state that the trial can go
    on from."""
    net = tiny.model()
    optimizer = torch.optim.AdamW(net.parameters(), fused=True)
    with torch.random.fork_rng():
        checkpoint.save(path, net, optimizer, ABOUT)
        tensors, about = read_tensors(path)
        changed = {**tensors, **changes}.items()
        write_tensors(path, {name: value.clone() for name, value in changed if value is not None}, about)
        door.accepts(lambda: checkpoint.load(path, net, optimizer), path.name)
