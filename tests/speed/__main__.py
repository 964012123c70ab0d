"""`python -m tests.speed [NAME ...]`: measure on an idle machine and write a record of each below results/performance;
all of them take 20 minutes."""

import os
import sys
import time
from datetime import UTC, datetime

from tests.speed import commands, peers

from actlab.chapters.running import SPEED
from actlab.records import store
from actlab.study import provenance

MEASUREMENTS = {"peers": peers.measure_all, "commands": commands.measure_all}


def save(name, measured):
    """Write one set of measurements with the machine and the moment; every run makes a record of its own."""
    now = datetime.now(UTC)
    origin = {
        "date": now.isoformat(timespec="seconds"),
        **provenance.code(),
        "machine": provenance.machine(),
        "threads": 1,
    }
    record = {"kind": "performance", "study": SPEED, "name": name, "measured": measured, "provenance": origin}
    store.save(store.path_of(SPEED, f"{name}-{now:%Y%m%dT%H%M%S}"), record)
    return record


def main(names):
    """Measure and record."""
    print(f"load of the machine: {os.getloadavg()[0]:.1f} (timings are worth something below 0.3)")
    for name in names or MEASUREMENTS:
        since = time.perf_counter()
        record = save(name, MEASUREMENTS[name]())
        print(f"{name}: {time.perf_counter() - since:.0f} s, recorded {record['provenance']['date']}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
