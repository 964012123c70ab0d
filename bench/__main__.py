"""`python -m bench [NAME ...]`: measure on an idle machine and write a record of each below results/performance;
all of them take 20 minutes."""

import os
import sys
import time

from bench import commands, dated, pairs, peers

MEASUREMENTS = {"peers": peers.measure_all, "commands": commands.measure_all, "pairs": pairs.measure_all}


def save(name, measured):
    """The record of one set of measurements."""
    return dated.save("performance", name, "performance", name=name, measured=measured)


def main(names):
    """Measure and record."""
    if unknown := {*names} - {*MEASUREMENTS}:
        sys.exit(f"{__doc__}\n{', '.join(sorted(unknown))}: expected some of {', '.join(MEASUREMENTS)}")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} (timings are worth something below 0.3)")
    for name in names or MEASUREMENTS:
        since = time.perf_counter()
        record = save(name, MEASUREMENTS[name]())
        print(f"{name}: {time.perf_counter() - since:.0f} s, recorded {record['provenance']['date']}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
