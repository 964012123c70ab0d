"""What the tests of faults and bad input did, counted for the record that ``--reliability`` writes. Not a test."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter

from actlab.chapters import running
from actlab.records import store
from actlab.study import provenance


@dataclass
class Doors:
    """Inputs by door: how many were tried, used, refused."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)

    def at(self, name):
        """The counts of one door."""
        return self.counts.setdefault(name, {"tried": 0, "used": 0, "refused": 0})


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


@dataclass
class Faults:
    """One row a fault, of tests that have passed."""

    rows: list[Fault] = field(default_factory=list)

    @contextmanager
    def survived(self, fault, outcome, times=1):
        """A row: what was done, what comes of it. Kept if the block ends well."""
        row, since = Fault(fault, outcome, times), perf_counter()
        yield row
        row.seconds = perf_counter() - since
        self.rows.append(row)


DOORS, FAULTS = Doors(), Faults()


def write(seconds):
    """The record of this run."""
    origin = provenance.of_record(threads=1, path="tests", data={})
    rows = [vars(row) for row in FAULTS.rows]
    record = {
        "kind": "reliability",
        "study": running.TRUST,
        "faults": rows,
        "doors": DOORS.counts,
        "seconds": seconds,
        "provenance": origin,
    }
    store.save(store.path_of(running.TRUST, f"tests-{datetime.now(UTC):%Y%m%dT%H%M%S}"), record)
