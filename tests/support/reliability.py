"""What the tests of faults and bad input did, kept for a record: ``pytest tests/faults tests/fuzz --reliability``. Not a test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any


@dataclass
class Doors:
    """Inputs by door: how many were tried, used, refused."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)

    def at(self, name: str) -> dict[str, int]:
        """The counts of one door."""
        return self.counts.setdefault(name, {"tried": 0, "used": 0, "refused": 0})


@dataclass
class Faults:
    """One row a fault."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def survived(self, fault: str, outcome: str, **more: Any) -> Iterator[dict[str, Any]]:
        """Keep a row if the block ends well: what was done, what came of it, ``times``, ``compared`` and ``lost`` records, seconds."""
        row: dict[str, Any] = {"fault": fault, "outcome": outcome, "times": 1, "compared": 0, "lost": 0, **more}
        since = perf_counter()
        yield row
        self.rows.append({**row, "seconds": perf_counter() - since})
