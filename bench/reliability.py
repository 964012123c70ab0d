"""What the tests of faults did, counted for the record that ``--reliability`` writes. Not a test."""

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import perf_counter

from actlab.records import store
from actlab.study import provenance


@dataclass
class Fault:
    """One row of the table."""

    fault: str
    outcome: str
    times: int = 1
    compared: int = 0
    lost: int = 0
    note: str = ""
    seconds: float = 0.0

    def same(self, found, expected):
        """Compare records, by file name, with those of an undisturbed run; none may be missing, other or new."""
        self.compared += len(expected)
        self.lost += sum(found.get(name) != content for name, content in expected.items())
        assert found == expected


FAULTS: list[Fault] = []


@contextmanager
def survived(fault, outcome):
    """A row: what was done, what comes of it. Kept if the block ends well."""
    row, since = Fault(fault, outcome), perf_counter()
    yield row
    row.seconds = perf_counter() - since
    FAULTS.append(row)


def save(study, file, **measured):
    """The record of a moment, with its machine."""
    record = {"kind": study, "study": study, **measured, "provenance": provenance.of_record(path="tests", data={})}
    store.save(store.path_of(study, f"{file}-{datetime.now(UTC):%Y%m%dT%H%M%S}"), record)
    return record


def write(seconds):
    """The record of this run."""
    save("reliability", "tests", faults=[*map(vars, FAULTS)], doors={}, seconds=seconds)
