"""Readings: the same trials as published and as corrected, at the end and along the way."""

import pytest
from tests.support import autopsies

from actlab.records import autopsy, store


def test_both_readings_of_one_arm():
    """Different inputs, one model, same inputs: each from its own block, at the end and at a snapshot."""
    reading = autopsies.evidence().on["charlm", "relu"]
    assert reading.iterations == [5, 10]
    assert [round(reading.between(iteration=i).value, 4) for i in (5, None, 10)] == [0.301, 0.601, 0.601]
    assert [round(reading.itself(iteration=i).value, 4) for i in (5, None)] == [0.296, 0.591]
    assert reading.paired(iteration=5).value == pytest.approx(0.3)
    assert reading.paired().value == pytest.approx(0.12)
    assert reading.between("relative_pd").value == pytest.approx(1.5 * reading.between().value)
    assert reading.between().n == reading.itself().n == reading.paired().n == 3


def test_only_arms_with_the_published_block_are_read():
    """A corrected record is no reading."""
    assert autopsy.readings([autopsies.corrected("charlm", "relu")]) == {}


def test_gather_reads_the_results_folder():
    """From no records, empty evidence; from records, theirs."""
    assert autopsy.gather().on == {}
    record = autopsies.published("charlm", "relu", [], 0.6, 0.6)
    store.save(store.path_of("autopsy-swiglu", "one"), record)
    assert list(autopsy.gather().on) == [("charlm", "relu")]
