"""Studies to explore: a made-up one, and two committed ones with snapshots and with perturbed runs. Not a test."""

from __future__ import annotations

from functools import cache
from typing import Any

from tests.support import grids

from actlab import paths
from actlab.chapters import explore
from actlab.records import store
from actlab.records.store import Record

COMMITTED = ("sources", "extreme")


def made_up() -> list[Record]:
    """Two architectures; one arm with a noise floor and one with a diverged trial, one activation missing in one."""
    return [
        grids.record(),
        grids.record(activation="swiglu", pd=0.3),
        grids.record(model="tinylstm", status={2: "diverged"}),
        grids.floor(),
        grids.baseline(),
    ]


@cache
def folders() -> dict[str, list[Record]]:
    """Folder -> its records."""
    committed = {
        name: [store.load(path) for path in sorted((paths.ROOT / "results" / name).glob("*.json"))]
        for name in COMMITTED
    }
    return {"repro-lite": made_up(), **committed}


@cache
def catalogue() -> dict[str, Any]:
    """What the explorer of these folders needs."""
    return explore.of_records(folders())
