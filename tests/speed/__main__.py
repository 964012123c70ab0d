"""`python -m actlab.bench [NAME ...]`: measure on an idle machine and write a record of each; the four of `DEFAULT` take under eight minutes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from actlab.bench import growth, language, mnist, optimizers, records, scaling, ways
from actlab.errors import ActlabError, UnknownName

MEASUREMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "scaling": scaling.measure_all,
    "ways": ways.measure_all,
    "growth": growth.measure_all,
    "language": partial(language.measure_all, rounds=3),
    "mnist": mnist.measure_all,
    "optimizers": optimizers.measure_all,
}
DEFAULT = ("scaling", "ways", "growth", "language")


def main(names: list[str]) -> int:
    """Measure and record; exit code 2 for a name that there is not."""
    for name in names:
        if name not in MEASUREMENTS:
            print(f"error: {UnknownName('measurement', name, MEASUREMENTS)}", file=sys.stderr)
            return 2
    print(f"load of the machine: {os.getloadavg()[0]:.1f} (timings are worth something below 0.3)")
    for name in names or DEFAULT:
        since = time.perf_counter()
        try:
            record = records.save(name, MEASUREMENTS[name]())
        except ActlabError as error:
            print(f"error: {name}: {error}", file=sys.stderr)
            return 2
        print(f"{name}: {time.perf_counter() - since:.0f} s, recorded {record['provenance']['date']}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
