"""The cost of an update: measured for every optimizer, ratios to AdamW in the same run, and state counted as it is."""

from __future__ import annotations

from dataclasses import replace

from tests.speed import updates

from actlab.chapters import performance
from actlab.models.gpt2 import GPT2_SCALES
from actlab.optimizers import OPTIMIZERS

TINY = replace(GPT2_SCALES["quick"], vocab_size=64, block_size=8, n_embd=16)


def test_every_optimizer_is_timed_in_one_run() -> None:
    """AdamW's ratio is 1; all times are positive; the whole step costs more than the update."""
    found = updates.measure(TINY, tuple(OPTIMIZERS), steps=2, rounds=2)
    rows = {row["optimizer"]: row for row in found["rows"]}
    assert list(rows) == list(OPTIMIZERS)
    assert rows["adamw"]["times_adamw"] == 1
    assert all(row["cpu_ms"] > 0 for row in rows.values())
    assert found["learning_cpu_ms"] > 0


def test_the_table_has_every_optimizer_and_says_what_was_not_measured() -> None:
    """SOAP has no time at the large scale."""
    small, large = updates.measure(TINY, tuple(OPTIMIZERS), 1, 1), updates.measure(TINY, ("ecd", "adamw", "sgdm"), 1, 1)
    table = performance.updates(
        {"small": small, "large": large, "large_scale": "124m", "state_bytes": updates.state_bytes("quick")}
    )
    assert sorted(table.index) == ["AdamW", "ECD", "SGDM", "SOAP"]
    assert (table.loc["SOAP"] == "not measured").sum() == 2


def test_published_size_fits_memory() -> None:
    """ECD and SGDM keep 4 bytes a parameter, AdamW 8, SOAP less than 40: all fit beside 124 million weights."""
    found = updates.state_bytes()
    assert (found["ecd"], found["sgdm"], found["adamw"]) == (4, 4, 8)
    assert 8 < found["soap"] < 40
