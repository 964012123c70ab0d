"""Records of a moment: measurements of speed, and what the tests of faults and bad input did. Not a test."""

from datetime import UTC, datetime

from actlab.records import store
from actlab.study import provenance


def save(study, file, kind, **found):
    """What was found, with the machine and the moment; every run makes a record of its own."""
    origin = provenance.of_record(path="tests", data={})
    record = {"kind": kind, "study": study, **found, "provenance": origin}
    store.save(store.path_of(study, f"{file}-{datetime.now(UTC):%Y%m%dT%H%M%S}"), record)
    return record
