"""Readings: the same trials as published and as corrected, at the end and along the way."""

from tests.support import autopsies

from actlab.records import autopsy, store


def test_only_arms_with_the_published_block_are_read():
    """A corrected record is no reading."""
    assert autopsy.readings([autopsies.corrected("charlm", "relu")]) == {}


def test_gather_reads_the_results_folder():
    """From no records, empty evidence; from records, theirs."""
    assert autopsy.gather().on == {}
    record = autopsies.published("charlm", "relu", [], 0.6, 0.6)
    store.save(store.path_of("autopsy-swiglu", "one"), record)
    assert list(autopsy.gather().on) == [("charlm", "relu")]
