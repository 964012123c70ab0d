"""Checkpoints and cached trials: a flipped bit, a missing end or any other bytes are noticed and set aside; no bit of a
result changes."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny
import torch
from hypothesis import given
from hypothesis import strategies as st

from actlab.errors import DamagedFile
from actlab.files import mending
from actlab.trainers import checkpoint
from actlab.trainers.checkpoint import read_tensors, write_tensors

DOOR = "checkpoints"
TENSORS = {
    "model/a": torch.arange(6, dtype=torch.float32).view(2, 3),
    "random/cpu": torch.arange(9, dtype=torch.uint8),
    "x": torch.zeros(0, 2),
}
ABOUT = {"iteration": 3, "history": [{"loss": 1.5}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.checkpoint"


def damaged(whole: bytes, place: int, bit: int, cut: int, extra: bytes) -> bytes:
    content = bytearray(whole)
    content[place % len(content)] ^= 1 << bit
    return bytes(content[: len(content) - cut % len(content)]) + extra


@given(
    place=st.integers(0, 4000),
    bit=st.integers(0, 7),
    cut=st.just(0) | st.integers(0, 600),
    extra=st.just(b"") | st.binary(max_size=9),
)
def test_every_damage_is_noticed(place: int, bit: int, cut: int, extra: bytes, path: Path, door) -> None:
    """Weights, metadata and header: what is read is what was written, or it is an error with the file's name."""
    write_tensors(path, TENSORS, ABOUT)
    path.write_bytes(damaged(path.read_bytes(), place, bit, cut, extra))
    if door.accepts(lambda: read_tensors(path), path.name):  # a bit of the header's padding, which holds nothing
        tensors, about = read_tensors(path)
        assert about == ABOUT
        assert all(torch.equal(tensors[name], TENSORS[name]) for name in TENSORS)


@given(content=st.binary(max_size=400))
def test_any_bytes(content: bytes, path: Path, door) -> None:
    path.write_bytes(content)
    assert not door.accepts(lambda: read_tensors(path), path.name)


@given(length=st.integers(0, 2**64 - 1), header=st.text(max_size=60))
def test_any_header(length: int, header: str, path: Path, door) -> None:
    """A length that promises exabytes is not believed."""
    said = header.encode()
    for claimed in (length, len(said)):
        path.write_bytes(claimed.to_bytes(8, "little") + said + bytes(50))
        assert not door.accepts(lambda: read_tensors(path), path.name)


names = st.sampled_from(
    [
        "model/head.weight",
        "optimizer/0/step",
        "optimizer/x/y",
        "optimizer/999/step",
        "optimizer/1",
        "random/cpu",
        "stray",
    ]
)
values = st.sampled_from([torch.zeros(2, 3), torch.zeros(()), torch.zeros(5000, dtype=torch.uint8), torch.zeros(0)])


@given(changes=st.dictionaries(names, st.none() | values, min_size=1, max_size=3))
def test_a_whole_file_of_something_else(changes: dict[str, torch.Tensor | None], path: Path, door) -> None:
    """With a right checksum, but of another model or optimizer: an error that names it, or state that the trial can go
    on from."""
    net = tiny.model()
    optimizer = torch.optim.AdamW(net.parameters(), fused=True)
    with torch.random.fork_rng():
        checkpoint.save(path, net, optimizer, ABOUT)
        tensors, about = read_tensors(path)
        for name, value in changes.items():
            tensors.pop(name, None)
            if value is not None:
                tensors[name] = value.clone()
        write_tensors(path, tensors, about)
        door.accepts(lambda: checkpoint.load(path, net, optimizer), path.name)


@given(place=st.integers(0, 100_000), bit=st.integers(0, 7), cut=st.integers(0, 99))
def test_a_trial_goes_on_with_the_same_bits(
    place: int, bit: int, cut: int, tmp_path_factory: pytest.TempPathFactory, door
) -> None:
    """Whatever happened to its checkpoint, a trial ends as an undisturbed one does."""
    path = tmp_path_factory.mktemp("trial") / "t.checkpoint"
    whole = tiny.outcome(tiny.run(tiny.model(), saved_at=path))
    path.write_bytes(damaged(path.read_bytes(), place, bit, cut, b""))
    door.counts["tried"] += 1
    again = tiny.outcome(mending(lambda: tiny.run(tiny.model(), saved_at=path)))
    assert again == whole
    door.counts["refused" if (path.parent / "set-aside").exists() else "used"] += 1


def test_a_damaged_file_survives_the_way_home_from_a_worker() -> None:
    import pickle

    copy = pickle.loads(pickle.dumps(DamagedFile(Path("a/b"), ValueError("cut"))))
    assert (copy.path, str(copy)) == (Path("a/b"), "a/b is damaged (cut); delete it and run again")
