"""The cost of an update: measured for every optimizer, ratios to AdamW in the same run, and state counted as it is."""

from dataclasses import replace

from tests.speed import updates

from actlab.models.gpt2 import GPT2_SCALES
from actlab.optimizers import OPTIMIZERS

TINY = replace(GPT2_SCALES["quick"], vocab_size=64, block_size=8, n_embd=16)


def test_every_optimizer_is_timed_in_one_run():
    """AdamW's ratio is 1; all times are positive; the whole step costs more than the update."""
    found = updates.measure(TINY, tuple(OPTIMIZERS), steps=2, rounds=2)
    rows = {row["optimizer"]: row for row in found["rows"]}
    assert list(rows) == list(OPTIMIZERS)
    assert rows["adamw"]["times_adamw"] == 1
    assert all(row["cpu_ms"] > 0 for row in rows.values())
    assert found["learning_cpu_ms"] > 0


def test_published_size_fits_memory():
    """ECD and SGDM keep 4 bytes a parameter, AdamW 8, SOAP less than 40: all fit beside 124 million weights."""
    found = updates.state_bytes()
    assert (found["ecd"], found["sgdm"], found["adamw"]) == (4, 4, 8)
    assert 8 < found["soap"] < 40
