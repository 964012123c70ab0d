"""Works take turns, here or in processes of their own."""

from __future__ import annotations

import time
from functools import partial

import pytest
import torch
from tests.speed import timing


def test_works_take_turns() -> None:
    """One call that is not counted, then ``repeats`` calls a round, the works in turn."""
    heard: list[str] = []
    samples = timing.alternate({"a": lambda: heard.append("a"), "b": lambda: heard.append("b")}, rounds=2, repeats=2)
    assert "".join(heard) == "ab" + 2 * "aabb"
    assert {name: len(values) for name, values in samples.items()} == {"a": 2, "b": 2}


def test_cpu_time_counts_no_sleep() -> None:
    """Waiting is no work."""
    assert (
        timing.seconds(partial(time.sleep, 0.05))
        > 0.04
        > timing.seconds(partial(time.sleep, 0.05), clock=time.process_time)
    )


def test_threads_come_back() -> None:
    """One inside, as many as before afterwards."""
    torch.set_num_threads(2)
    with timing.one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)


@pytest.mark.slow
def test_each_maker_has_a_process() -> None:
    """Seconds by work and round, and the memory of a process that has loaded torch."""
    found = timing.apart(
        {"one": partial(dict, clock=time.time), "two": partial(dict, clock=time.time, other=time.monotonic)}, rounds=3
    )
    assert {name: {work: len(values) for work, values in way["seconds"].items()} for name, way in found.items()} == {
        "one": {"clock": 3},
        "two": {"clock": 3, "other": 3},
    }
    assert all(50 < way["peak_mb"] < 5000 for way in found.values())
