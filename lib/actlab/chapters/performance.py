"""What runs, commands, workers and updates cost beside named peers, by the newest records of `python -m tests.speed`;
a part of the page on running."""

from __future__ import annotations

from collections.abc import Callable
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
OPTIMIZERS = {"ecd": "ECD", "soap": "SOAP", "adamw": "AdamW", "sgdm": "SGDM"}
IMAGES = {
    "lightning": "PyTorch Lightning",
    "plain": "plain PyTorch loop, fused Adam",
    "stacked": "36 networks stacked (ours)",
}
PEERS = {
    REFERENCE: "plain PyTorch",
    "PyTorch Lightning, our model": "Lightning",
    "nanoGPT-style loop and layers": "nanoGPT-style loop",
}
"""A way -> its name in the figure."""
A_RUN = 30.0
"""Seconds of the run of which Dask's share is stated."""
Measured = dict[str, Any]


def newest(name: str | None, study: str = STUDY) -> store.Record | None:
    """The last record of that name; ``None`` where nothing was measured."""
    found = (record for record in store.load_study(study) if record.get("name") == name)
    return max(found, key=lambda record: str(record["provenance"]["date"]), default=None)


def origin(record: store.Record) -> dict[str, str]:
    """Where a record's numbers come from, with the machine's matrix rate where it was measured."""
    made, rate = record["provenance"], record.get("measured", {}).get("matmul_gflops")
    return {
        "processor": made["machine"]["processor"],
        "torch": made["machine"].get("torch", ""),
        "date": moment(made["date"]),
        "commit": (made["git_commit"] or "none")[:10],
        "float32 products on one thread": f"{rate:.0f} GFLOP/s" if rate else "",
    }


def _run(measured: Measured, way: Measured, positions: str = "positions") -> np.ndarray:
    """CPU seconds of a run whose evaluations take so many positions each: one a round."""
    steps, million = np.array(way["iteration"]), np.array(way["million_positions"])
    return np.asarray(measured["iterations"] * steps + measured["evaluations"] * measured[positions] / 1e6 * million)


def equal_protocol(measured: Measured) -> pd.DataFrame:
    """One row a model and way: CPU time of a run in times ours where all evaluate as we do, and with the published
    evaluations; seconds, memory, and our share of the machine's matrix rate."""
    rows = {}
    for model, found in measured["models"].items():
        mine = _run(measured, found["ways"][OURS])
        for name, way in found["ways"].items():
            run, step = _run(measured, way), float(np.median(way["iteration"]))
            published = np.median(_run(measured, way, "published_positions")) / np.median(mine)
            reached = found["account"]["training_gflop"] / step / measured["matmul_gflops"]
            rows[model, name] = {
                "times ours": "1" if name == OURS else with_interval(mean_interval(list(run / mine)), 2),
                "as published": f"{published:.1f}" if name == REFERENCE else "",
                "run, s": f"{np.median(run):.0f}",
                "step, ms": f"{1e3 * step:.0f}",
                "memory, MB": f"{way['peak_mb']:.0f}",
                "of the matrix rate": f"{reached:.0%}" if name == OURS else "",
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


def workers(measured: Measured) -> pd.DataFrame:
    """One row a way: runs an hour and their ratio to those in one process, with a 95% interval over the rounds; and
    Dask's share of a run of ``A_RUN`` seconds."""
    each = {name: np.array(values) / measured["trials"][name] for name, values in measured["seconds"].items()}
    dask = measured["task_seconds"] / A_RUN + measured["report_seconds"] / measured["reports_every"]
    return frame(
        {
            name: {
                "runs an hour": f"{3600 / np.median(seconds):.0f}",
                "times one process": with_interval(mean_interval(list(each["in this process"] / seconds)), 3),
                "rounds": str(len(seconds)),
                f"Dask's share of {A_RUN:.0f} s": f"{dask:.2%}" if name.startswith("Dask") else "",
            }
            for name, seconds in each.items()
        }
    )


def images(measured: Measured) -> pd.DataFrame:
    """One row a batch size and way: CPU seconds of a run (one epoch), and how many times the stacked program's."""
    rows = {
        (f"batch {row['batch_size']}", IMAGES[row["way"]]): {
            "CPU seconds of a run": f"{row['seconds_a_trial']:.3f}",
            "times ours": f"{row['times_stacked']:.1f}",
        }
        for row in measured["rows"]
    }
    return frame(rows, ("", "way"))


def updates(measured: Measured) -> pd.DataFrame:
    """One row an optimizer: a whole step and an update of the weights in times AdamW's, at two sizes; bytes of state a
    parameter."""
    small_size, large = ({row["optimizer"]: row for row in measured[size]["rows"]} for size in ("small", "large"))
    few, many = (f"{measured[size]['parameters'] / 1e6:.1f}M" for size in ("small", "large"))
    learning, adamw = measured["small"]["learning_cpu_ms"], small_size["adamw"]["cpu_ms"]
    return frame(
        {
            OPTIMIZERS[name]: {
                f"step ({few})": f"{(learning + row['cpu_ms']) / (learning + adamw):.2f}",
                f"update ({few})": f"{row['times_adamw']:.2f}",
                f"update ({many})": f"{large[name]['times_adamw']:.2f}" if name in large else "not measured",
                "bytes of state a parameter": f"{measured['state_bytes'][name]:.1f}",
            }
            for name, row in small_size.items()
        }
    )


TABLES: dict[str, tuple[str, Callable[[Measured], pd.DataFrame]]] = {
    "CPU time at equal protocol, every way": ("peers", equal_protocol),
    "Whole commands: two runs from the shell, wall clock, each side with its own protocol": ("commands", commands),
    "More workers: short runs in one process, on one Dask worker and on two": ("scaling", workers),
    "The image sweep against Lightning: 36 networks in one program": ("mnist", images),
    "An update of the weights in times fused AdamW's": ("optimizers", updates),
}
"""Title -> the name of its record, and what makes it."""


def tables(**others: store.Record | None) -> dict[str, pd.DataFrame]:
    """Every table by its title, and the machines, also of ``others``; "no record yet" where nothing was measured."""
    records = {name: newest(name) for name, _ in TABLES.values()}
    made = {t: table(r["measured"]) if (r := records[name]) else frame({}) for t, (name, table) in TABLES.items()}
    return made | {
        "Machines": frame({n: origin(r) for n, r in {**records, **others}.items() if r}),
    }


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
