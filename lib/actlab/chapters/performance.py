"""What runs and whole commands cost beside named peers, by the newest records of `python -m tests.speed`; a part of the
page on running."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters.template import frame
from actlab.figures.primitives import points
from actlab.figures.style import NO_RECORD
from actlab.records import store
from actlab.records.wording import moment, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval

STUDY = "performance"
OURS, REFERENCE = "ours", "plain reference"
PEERS = {
    REFERENCE: "plain PyTorch",
    "PyTorch Lightning, our model": "Lightning",
    "nanoGPT-style loop and layers": "nanoGPT-style loop",
}
"""A way -> its name in the figure."""
Measured = dict[str, Any]


def newest(name: str | None, study: str = STUDY) -> store.Record | None:
    """The last record of that name; ``None`` where nothing was measured."""
    found = (record for record in store.load_study(study) if record.get("name") == name)
    return max(found, key=lambda record: str(record["provenance"]["date"]), default=None)


def origin(record: store.Record) -> dict[str, str]:
    """Where a record's numbers come from."""
    made = record["provenance"]
    return {
        "processor": made["machine"]["processor"],
        "torch": made["machine"].get("torch", ""),
        "date": moment(made["date"]),
        "commit": (made["git_commit"] or "none")[:10],
    }


def _run(measured: Measured, way: Measured, positions: str = "positions") -> np.ndarray:
    """CPU seconds of a run whose evaluations take so many positions each: one a round."""
    steps, million = np.array(way["iteration"]), np.array(way["million_positions"])
    return np.asarray(measured["iterations"] * steps + measured["evaluations"] * measured[positions] / 1e6 * million)


def equal_protocol(measured: Measured) -> pd.DataFrame:
    """One row a model and way: CPU time of a run in times ours where all evaluate as we do, and with the published
    evaluations; seconds and memory."""
    rows = {}
    for model, found in measured["models"].items():
        mine = _run(measured, found["ways"][OURS])
        for name, way in found["ways"].items():
            run, step = _run(measured, way), float(np.median(way["iteration"]))
            published = np.median(_run(measured, way, "published_positions")) / np.median(mine)
            rows[model, name] = {
                "times ours": "1" if name == OURS else with_interval(mean_interval(list(run / mine)), 2),
                "as published": f"{published:.1f}" if name == REFERENCE else "",
                "run, s": f"{np.median(run):.0f}",
                "step, ms": f"{1e3 * step:.0f}",
                "memory, MB": f"{way['peak_mb']:.0f}",
                "rounds": str(len(run)),
            }
    return frame(rows, ("model", "way"))


def commands(measured: Measured) -> pd.DataFrame:
    """One row a model: wall-clock seconds of the reference's command and of ours, and their ratio."""
    rows = {}
    for model, ways in measured["models"].items():
        theirs = median(ways["reference"])
        rows[model] = {"reference, s": f"{theirs:.0f}"}
        for way, seconds in ((way, median(values)) for way, values in ways.items() if way != "reference"):
            rows[model] |= {f"ours in {way}, s": f"{seconds:.0f}", f"times faster in {way}": f"{theirs / seconds:.1f}"}
    return frame(rows)


TABLES = {
    "peers": ("CPU time at equal protocol, every way", equal_protocol),
    "commands": ("Whole commands: two runs from the shell, wall clock, each side with its own protocol", commands),
}
"""Name of a record -> its table's title, and what makes it."""


def tables(**others: store.Record | None) -> dict[str, pd.DataFrame]:
    """What was measured, and the machines, also of ``others``; "no record yet" where nothing was."""
    records = {name: newest(name) for name in TABLES} | others
    made = {t: table(r["measured"]) if (r := records[name]) else frame({}) for name, (t, table) in TABLES.items()}
    return made | {"Machines": frame({name: origin(record) for name, record in records.items() if record})}


def against_peers() -> dict[tuple[str, str], Estimate]:
    """(model, way) -> CPU time of a run at equal protocol minus ours, in % of ours, over the rounds."""
    measured = record["measured"] if (record := newest("peers")) else {"models": {}}
    found = {}
    for model, row in measured["models"].items():
        mine = _run(measured, row["ways"][OURS])
        for way in row["ways"]:
            if way != OURS:
                found[model, way] = mean_interval(list(100 * (_run(measured, row["ways"][way]) / mine - 1)))
    return found


def figure() -> Figure:
    """CPU time of a run at equal protocol, minus ours: a row a model, a mark a way."""
    found = {("", model, PEERS.get(way, way)): estimate for (model, way), estimate in against_peers().items()}
    return points(found, "CPU time of a run minus ours (%); right of 0: slower than ours", zero=True, height=3.0)


def sentence() -> str:
    """What the figure shows; says so where nothing was measured."""
    found = against_peers()
    if not found:
        return f"Speed: {NO_RECORD}"
    level = sum(estimate.low < 0 < estimate.high for estimate in found.values())
    middle = median(estimate.value for estimate in found.values())
    return (
        f"At equal protocol plain PyTorch, Lightning and a nanoGPT-style loop take {middle:.0f}% more CPU time than we "
        f"do in the median; the 95% interval includes 0 in {level} of {len(found)} comparisons"
    )
