"""A study to explore, from made-up records. Not a test."""

from __future__ import annotations

from tests.support import grids

from actlab.chapters import explore
from actlab.chapters.explore import Study
from actlab.records.store import Record


def record(scale: str = "lite", **more: object) -> Record:
    """A record of the grid with what the explorer reads of its settings."""
    made = grids.record(**more)
    recipe = {"device": "cpu", "iterations": 10, "batch_size": 4, "learning_rate": 1e-3}
    return made | {"config": {"recipe": recipe, "dataset": "pydoc", "scale": scale}}


def study(**folders: list[Record]) -> Study:
    (found,) = explore.of_records({name.replace("_", "-"): records for name, records in folders.items()})
    return found


def grid_study() -> Study:
    """Two scales; one arm with a noise floor and one with a diverged trial."""
    lite = [
        record(),
        record(activation="swiglu", pd=0.3),
        record(model="tinylstm", status={2: "diverged"}),
        grids.floor(),
        grids.baseline(),
    ]
    return study(repro_lite=lite, repro_quick=[record("quick", pd=0.7)])
