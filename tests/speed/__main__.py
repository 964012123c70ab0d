"""`python -m tests.speed [NAME ...]`: measure on an idle machine and write a record of each below results/performance;
all of them take 20 minutes."""

import os
import sys
import time
from datetime import UTC, datetime

from tests.speed import commands, peers

from actlab.chapters.running import SPEED
from actlab.errors import ActlabError, UnknownName
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
    """Measure and record; exit code 2 for a name that there is not."""
    for name in names:
        if name not in MEASUREMENTS:
            print(f"error: {UnknownName('measurement', name, MEASUREMENTS)}", file=sys.stderr)
            return 2
    print(f"load of the machine: {os.getloadavg()[0]:.1f} (timings are worth something below 0.3)")
    for name in names or MEASUREMENTS:
        since = time.perf_counter()
        try:
            record = save(name, MEASUREMENTS[name]())
        except ActlabError as error:
            print(f"error: {name}: {error}", file=sys.stderr)
            return 2
        print(f"{name}: {time.perf_counter() - since:.0f} s, recorded {record['provenance']['date']}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
