"""Measurements of speed as records below results/performance: measured once on a quiet machine, shown by the notebook."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from statistics import median
from typing import Any

import pandas as pd

from actlab import paths, store
from actlab.study import provenance
from actlab.wording import moment

STUDY = "performance"


def save(name: str, measured: dict[str, Any]) -> store.Record:
    """Write one set of measurements with the machine and the moment; every run makes a record of its own."""
    now = datetime.now(UTC)
    origin = {"date": now.isoformat(timespec="seconds"), **provenance.code(), "machine": provenance.machine(), "threads": 1}
    record = {"kind": "performance", "study": STUDY, "name": name, "measured": measured, "provenance": origin}
    store.save(store.path_of(STUDY, f"{name}-{now:%Y%m%dT%H%M%S}"), record)
    return record


def newest(name: str) -> store.Record | None:
    """The last record of that name; ``None`` where nothing was measured."""
    found = [record for record in store.load_study(STUDY) if record["name"] == name]
    return max(found, key=lambda record: str(record["provenance"]["date"])) if found else None


def measure_or_load(name: str, measure: bool, work: Any, **settings: Any) -> store.Record | None:
    """For a notebook: ``work(**settings)`` recorded if ``measure``, else the newest record."""
    return save(name, work(**settings)) if measure else newest(name)


def origin(record: store.Record | None) -> pd.DataFrame:
    """Where a record's numbers come from, with the machine's matrix rate; says so where nothing was measured."""
    if record is None:
        return pd.DataFrame({"": {"measured": "not yet"}})
    machine, made = record["provenance"]["machine"], record["provenance"]
    rows = {
        "processor": machine["processor"],
        "torch": machine["torch"],
        "date": moment(made["date"]),
        "commit": (made["git_commit"] or "none")[:10],
    }
    if "matmul_gflops" in record["measured"]:
        rows["float32 matrix product"] = f"{record['measured']['matmul_gflops']:.0f} GFLOP/s on one thread"
    return pd.DataFrame({"": rows})


def shown(record: store.Record | None, table: Callable[[dict[str, Any]], pd.DataFrame]) -> pd.DataFrame:
    """A table of a record's measurements; says so where nothing was measured."""
    return pd.DataFrame({"": {"measured": "not yet"}}) if record is None else table(record["measured"])


def on_gpu() -> pd.DataFrame:
    """One row a recorded arm that was trained on a GPU: its median seconds a trial; says so where there is none."""
    rows = {}
    for folder in sorted(path.name for path in paths.results().glob("*") if path.is_dir()):
        for record in store.load_study(folder):
            device = str(record.get("config", {}).get("recipe", {}).get("device", "cpu"))
            if device.startswith("cuda"):
                seconds = [sum(trial["seconds"].values()) for trial in record["trials"] if trial["status"] == "done"]
                gpu = record["provenance"]["machine"]["gpu"]
                rows[f"{folder}, {record['arm']}"] = {"GPU": gpu, "seconds a trial": f"{median(seconds):.0f}" if seconds else "none done"}
    return pd.DataFrame.from_dict(rows, orient="index") if rows else pd.DataFrame({"": {"trained on a GPU": "no record yet"}})
