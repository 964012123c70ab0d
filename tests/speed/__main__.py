"""`python -m tests.speed`: measure on an idle machine, within 20 minutes, and write a record below
results/performance."""

import os
import time
from datetime import UTC, datetime

from tests.speed import peers

from actlab.chapters.performance import STUDY
from actlab.records import store
from actlab.study import provenance


def save(measured):
    """Write the measurements with the machine and the moment; every run makes a record of its own."""
    now = datetime.now(UTC)
    origin = {
        "date": now.isoformat(timespec="seconds"),
        **provenance.code(),
        "machine": provenance.machine(),
        "threads": 1,
    }
    record = {"kind": "performance", "study": STUDY, "name": "peers", "measured": measured, "provenance": origin}
    return store.save(store.path_of(STUDY, f"peers-{now:%Y%m%dT%H%M%S}"), record)


if __name__ == "__main__":
    print(f"load of the machine: {os.getloadavg()[0]:.1f} (timings are worth something below 0.3)")
    since = time.perf_counter()
    print(f"{save(peers.measure_all())}, after {time.perf_counter() - since:.0f} s")
