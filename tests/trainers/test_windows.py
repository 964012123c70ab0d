"""Evaluation windows, training batches and random streams: every character counts once, and names decide the
randomness."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from actlab.errors import BadInput
from actlab.trainers.recipes import Recipe
from actlab.trainers.seeds import derive
from actlab.trainers.windows import SKIP, RandomWindows, Windows, cover, spread


@given(block_size=st.integers(1, 40), extra=st.integers(1, 400))
def test_cover_counts_every_position_once(block_size, extra):
    """The counted targets, in order, are the text from its second character on; each input is the character before its
    target."""
    text = torch.arange(block_size + extra)
    windows = cover(text, block_size)
    counted = windows.targets != SKIP
    assert windows.targets[counted].tolist() == text[1:].tolist()
    assert (windows.targets[counted] - windows.inputs[counted] == 1).all()
    assert windows.positions == len(text) - 1
    assert windows.inputs.shape == windows.targets.shape
    assert windows.inputs.shape[1] == block_size
    assert windows.inputs.dtype == windows.targets.dtype == torch.int64


@given(block_size=st.integers(1, 20), length=st.integers(21, 500), count=st.integers(1, 60))
def test_spread_windows_do_not_overlap(block_size, length, count):
    """As many windows as asked for or as there are, in order, apart by at least the context, all of them counted, first
    and last included."""
    text = torch.arange(length)
    windows, available = spread(text, block_size, count), (length - 1) // block_size
    starts = windows.inputs[:, 0]
    assert len(starts) == min(count, available)
    assert (starts.diff() >= block_size).all()
    assert starts[0] == 0
    assert len(starts) == 1 or starts[-1] == (available - 1) * block_size
    assert torch.equal(windows.targets, windows.inputs + 1)
    assert windows.positions == windows.targets.numel()


@pytest.mark.data("tinyshakespeare/input.txt")
def test_the_frozen_windows_of_the_published_study():
    """The windows that committed records were compared on are still the same: 256 of 128 characters of shakespeare's
    validation text."""
    from actlab.data.text import load_text

    validation = load_text("shakespeare").validation
    windows = spread(validation, 128, 256)
    assert windows.positions == 32_768
    assert windows.sha256 == "e5f1dc7f749ce3da53497a76d4fe2676e78a485aea4ae1854060006528d49abd"
    assert cover(validation, 128).positions == 111_539


@pytest.mark.parametrize("make", [lambda text: cover(text, 8), lambda text: spread(text, 8, 2)])
def test_a_text_shorter_than_its_context_is_refused(make):
    """Nine characters make one window of eight; eight make none, and the message says so."""
    assert make(torch.arange(9)).positions == 8
    with pytest.raises(BadInput, match="the text has 8 characters; a context of 8 needs at least 9"):
        make(torch.arange(8))


def test_windows_hash():
    """The hash sees inputs, targets and shape, and not dtype."""
    base = cover(torch.arange(50), 8)
    targets = base.targets.clone()
    targets[0, 0] = 7
    others = [
        Windows(base.inputs + 1, base.targets),
        Windows(base.inputs, targets),
        Windows(base.inputs.view(-1, 4), base.targets.view(-1, 4)),
    ]
    assert len({w.sha256 for w in [base, *others]}) == 4
    assert Windows(base.inputs.int(), base.targets.int()).sha256 == base.sha256


@given(length=st.integers(9, 60), seed=st.integers(0, 100))
def test_batches_stay_inside_the_text(length, seed):
    """Every start leaves room for a window and its last target."""
    recipe = Recipe(iterations=50, evaluate_every=1, batch_size=4)
    starts = RandomWindows(torch.arange(length), 8, recipe, seed).starts
    assert starts.shape == (50, 4)
    assert int(starts.min()) >= 0
    assert int(starts.max()) + 8 <= length - 1


@given(seed=st.integers(0, 2**31), other=st.integers(0, 2**31))
def test_streams_are_named(seed, other):
    """A stream is a function of seed and name: equal for equal ones, different for any other."""
    assert derive(seed, "order") == derive(seed, "order")
    assert derive(seed, "order") != derive(seed, "dropout")
    assert (derive(seed, "order") == derive(other, "order")) == (seed == other)
    assert 0 <= derive(seed, "order") < 2**63


def test_stream_values_are_pinned():
    """Derived seeds are part of every published result: they never change."""
    names = ("order", "dropout", "init/tokens.weight")
    assert [derive(42, name) for name in names] == [8165458605575282540, 8951272675227016627, 4614753643510904109]
