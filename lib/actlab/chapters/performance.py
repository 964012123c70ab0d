"""The page of performance: what trials, commands, workers and updates cost, by the newest `python -m tests.speed`."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab import paths
from actlab.chapters.template import folded, frame
from actlab.figures.primitives import points
from actlab.figures.style import NO_RECORD
from actlab.records import store
from actlab.records.wording import moment, with_interval
from actlab.statistics.estimate import Estimate
from actlab.statistics.means import mean_interval

STUDY = "performance"
NAMES = ("peers", "commands", "scaling", "growth", "mnist", "optimizers")
OURS, REFERENCE = "ours", "plain reference"
OPTIMIZERS = {"ecd": "ECD", "soap": "SOAP", "adamw": "AdamW", "sgdm": "SGDM"}
LIGHTNING, PLAIN, STACKED = "PyTorch Lightning", "plain PyTorch loop, fused Adam", "36 networks stacked (ours)"
IMAGES = {"lightning": LIGHTNING, "plain": PLAIN, "stacked": STACKED}
TRIAL_SECONDS = 30.0
"""Of the trial that Dask's overhead is stated for."""
Measured = dict[str, Any]


def newest(name: str) -> store.Record | None:
    """The last record of that name; ``None`` where nothing was measured."""
    found = [record for record in store.load_study(STUDY) if record["name"] == name]
    return max(found, key=lambda record: str(record["provenance"]["date"])) if found else None


def shown(record: store.Record | None, table: Callable[[Measured], pd.DataFrame]) -> pd.DataFrame:
    """A table of a record's measurements; says so where nothing was measured."""
    return frame({}) if record is None else table(record["measured"])


def origin(record: store.Record | None) -> pd.DataFrame:
    """Where a record's numbers come from, with the machine's matrix rate; says so where nothing was measured."""
    if record is None:
        return frame({})
    machine, made, measured = record["provenance"]["machine"], record["provenance"], record["measured"]
    rows = {
        "processor": machine["processor"],
        "torch": machine["torch"],
        "date": moment(made["date"]),
        "commit": (made["git_commit"] or "none")[:10],
    }
    if "matmul_gflops" in measured:
        rows["float32 matrix product"] = f"{measured['matmul_gflops']:.0f} GFLOP/s on one thread"
    if "bfloat16" in measured:
        rows["bfloat16"] = "measured too" if measured["bfloat16"] else "not measured: no arithmetic for it here"
    return pd.DataFrame({"": rows})


def _trial(measured: Measured, way: Measured, positions: int) -> np.ndarray:
    """CPU seconds of a trial of the recipe whose evaluations take so many positions each: one a round."""
    steps, million = np.array(way["iteration"]), np.array(way["million_positions"])
    return np.asarray(measured["iterations"] * steps + measured["evaluations"] * positions / 1e6 * million)


def equal_protocol(measured: Measured) -> pd.DataFrame:
    """One row a model and way: seconds of a trial, an iteration, a million evaluated positions, in times ours where all
    evaluate as we do."""
    rows = {}
    for model, found in measured["models"].items():
        mine = _trial(measured, found["ways"][OURS], measured["positions"])
        for name, way in found["ways"].items():
            trial = _trial(measured, way, measured["positions"])
            rows[model, name] = {
                "trial, times ours": "1" if name == OURS else with_interval(mean_interval(list(trial / mine)), 2),
                "trial, s": f"{np.median(trial):.0f}",
                "iteration, ms": f"{1e3 * np.median(way['iteration']):.0f}",
                "million positions evaluated, s": f"{np.median(way['million_positions']):.1f}",
                "peak memory, MB": f"{way['peak_mb']:.0f}",
                "rounds": str(len(trial)),
            }
    return frame(rows, ("model", "way"))


def protocols(measured: Measured) -> pd.DataFrame:
    """One row a model: the reference's trial over ours where both evaluate the same positions, and where each keeps its
    own protocol."""
    rows = {}
    for model, found in measured["models"].items():
        mine = np.median(_trial(measured, found["ways"][OURS], measured["positions"]))
        both = [
            np.median(_trial(measured, found["ways"][REFERENCE], measured[key]))
            for key in ("positions", "published_positions")
        ]
        rows[model] = {
            "equal protocol": f"{both[0] / mine:.1f}",
            "each its own": f"{both[1] / mine:.1f}",
            "of that, protocol": f"{both[1] / both[0]:.1f}",
        }
    return frame(rows)


def account(measured: Measured) -> pd.DataFrame:
    """One column a model: arithmetic of a step, the rate reached, the shares of its time."""
    rate, columns = measured["matmul_gflops"], {}
    groups = dict.fromkeys(
        g for m in measured["models"].values() for g, s in m["account"]["shares"].items() if s >= 0.005
    )
    for model, found in measured["models"].items():
        spent = found["account"]
        reached = spent["training_gflop"] / np.median(found["ways"][OURS]["iteration"])
        columns[model] = {
            "GFLOP a step": f"{spent['training_gflop']:.1f}",
            "GFLOP/s": f"{reached:.0f}",
            "of the matrix rate": f"{100 * reached / rate:.0f}%",
            **{group: f"{100 * spent['shares'][group]:.0f}%" for group in groups},
        }
    return pd.DataFrame(columns)


def commands(measured: Measured) -> pd.DataFrame:
    """One row a model: wall-clock seconds of the reference's command and of ours, and their ratio."""
    rows = {}
    for model, ways in measured["models"].items():
        times = {way: median(values) for way, values in ways.items()}
        rows[model] = {
            "reference, s": f"{times['reference']:.0f}",
            **{f"ours in {way}, s": f"{times[way]:.0f}" for way in times if way != "reference"},
            **{
                f"times faster in {way}": f"{times['reference'] / times[way]:.1f}"
                for way in times
                if way != "reference"
            },
        }
    return frame(rows)


def workers(measured: Measured) -> pd.DataFrame:
    """One row a way: trials an hour and their ratio to those in one process, with a 95% interval over the rounds."""
    each = {name: np.array(values) / measured["trials"][name] for name, values in measured["seconds"].items()}
    return pd.DataFrame.from_dict(
        {
            name: {
                "trials an hour": f"{3600 / np.median(seconds):.0f}",
                "times one process": with_interval(mean_interval(list(each["in this process"] / seconds)), 3),
                "rounds": str(len(seconds)),
            }
            for name, seconds in each.items()
        },
        orient="index",
    )


def overhead(measured: Measured) -> pd.DataFrame:
    """What Dask costs: once a study, a task, a report, and so of a trial of ``TRIAL_SECONDS``."""
    reports = TRIAL_SECONDS / measured["reports_every"] * measured["report_seconds"]
    rows = {
        f"start-up with {n} worker{'s' if n != '1' else ''}, s": f"{s:.1f}"
        for n, s in measured["startup_seconds"].items()
    }
    rows |= {
        "an empty task, ms": f"{1e3 * measured['task_seconds']:.1f}",
        "a report, ms": f"{1e3 * measured['report_seconds']:.2f}",
        f"of a trial of {TRIAL_SECONDS:.0f} s": f"{100 * (measured['task_seconds'] + reports) / TRIAL_SECONDS:.2f}%",
        "load of the machine before": f"{measured['load_before']:.1f}",
    }
    return pd.DataFrame({"": rows})


def slopes(levels: Measured) -> list[float]:
    """Exponent b of seconds = a level^b in each round: the least-squares slope of logarithms."""
    x = np.log([float(level) for level in levels])
    seconds = np.log([row["seconds"] for row in levels.values()])  # (levels, rounds)
    return [float(np.polyfit(x, column, 1)[0]) for column in seconds.T]


def growth(measured: Measured) -> pd.DataFrame:
    """One row a factor: milliseconds at every level, the fitted exponent with a 95% interval over the rounds, and that
    of the arithmetic.

    The levels of comparing trials are their numbers of pairs.
    """
    rows = {}
    for factor, found in measured["factors"].items():
        levels = _by_pairs(found) if factor == "trials" else found
        gflop = [row["gflop"] for row in levels.values()]
        x = np.log([float(level) for level in levels])
        rows[factor if factor != "trials" else "pairs of trials, compared"] = {
            "levels": ", ".join(levels),
            "CPU ms": ", ".join(f"{1e3 * np.median(row['seconds']):.0f}" for row in levels.values()),
            "exponent": with_interval(mean_interval(slopes(levels)), 2),
            "of its arithmetic": f"{np.polyfit(x, np.log(gflop), 1)[0]:.2f}" if None not in gflop else "not counted",
            "rounds": str(len(next(iter(levels.values()))["seconds"])),
        }
    return frame(rows)


def _by_pairs(trials: Measured) -> Measured:
    """Number of pairs n (n - 1) / 2 -> what comparing n trials took."""
    return {str(math.comb(int(n), 2)): row for n, row in trials.items()}


def on_gpu() -> pd.DataFrame:
    """One row a recorded arm that was trained on a GPU: its median seconds a trial; says so where there is none."""
    rows = {}
    for folder in sorted(path.name for path in paths.results().glob("*") if path.is_dir()):
        for record in store.load_study(folder):
            device = str(record.get("config", {}).get("recipe", {}).get("device", "cpu"))
            if device.startswith("cuda"):
                seconds = [sum(trial["seconds"].values()) for trial in record["trials"] if trial["status"] == "done"]
                gpu = record["provenance"]["machine"]["gpu"]
                rows[f"{folder}, {record['arm']}"] = {
                    "GPU": gpu,
                    "seconds a trial": f"{median(seconds):.0f}" if seconds else "none done",
                }
    return frame(rows) if rows else pd.DataFrame({"": {"trained on a GPU": NO_RECORD}})


def images(measured: Measured) -> pd.DataFrame:
    """One row a way and batch size: seconds of CPU time a trial (one epoch), and how many times the stacked
    program's."""
    rows = {
        (f"batch {row['batch_size']}", IMAGES[row["way"]]): {
            "seconds of CPU time a trial": f"{row['seconds_a_trial']:.3f}",
            "times ours": f"{row['times_stacked']:.1f}",
        }
        for row in measured["rows"]
    }
    return frame(rows, ("", "way"))


def image_limits(measured: Measured) -> pd.DataFrame:
    """What the machine needs at least for a stacked step (products, and moving Adam's state), and our share of it."""
    stacked = {
        str(row["batch_size"]): row["microseconds_a_step"] for row in measured["rows"] if row["way"] == "stacked"
    }
    rows = {
        f"batch {batch}": {
            "matrix products, µs": f"{limit['products_microseconds']:.0f}",
            "at GFLOP/s": f"{limit['gigaflops']:.0f}",
            "Adam, µs": f"{limit['adam_microseconds']:.0f}",
            "at GB/s": f"{limit['adam_gigabytes_a_second']:.0f}",
            "our step, µs": f"{stacked[batch]:.0f}",
            "share of the limit": f"{100 * limit['limit_microseconds'] / stacked[batch]:.0f}%",
        }
        for batch, limit in measured["limits"].items()
    }
    return frame(rows)


def updates(measured: Measured) -> pd.DataFrame:
    """One row an optimizer: times AdamW's update, small and large; times a whole step (small); bytes of state a
    parameter at the large scale."""
    small, large = ({row["optimizer"]: row for row in measured[size]["rows"]} for size in ("small", "large"))
    few, many = (f"{measured[size]['parameters'] / 1e6:.{digits}f}M" for size, digits in (("small", 1), ("large", 0)))
    learning, adamw = measured["small"]["learning_cpu_ms"], small["adamw"]["cpu_ms"]
    rows = {}
    for name, row in small.items():
        rows[OPTIMIZERS[name]] = {
            f"whole step, times AdamW's ({few})": f"{(learning + row['cpu_ms']) / (learning + adamw):.2f}",
            f"update, times AdamW's ({few})": f"{row['times_adamw']:.2f}",
            f"update, times AdamW's ({many})": f"{large[name]['times_adamw']:.2f}" if name in large else "not measured",
            f"state, bytes a parameter ({many})": f"{measured['state_bytes'][name]:.1f}",
            f"update, CPU ms ({few})": f"{row['cpu_ms']:.1f}",
            f"update, CPU ms ({many})": f"{large[name]['cpu_ms']:.0f}" if name in large else "not measured",
        }
    return frame(rows)


def figure(peers: store.Record | None) -> Figure:
    """Seconds of a trial at equal protocol in times ours: a panel a model, a row a way."""
    found: dict[tuple[str, str, str], Estimate | None] = {}
    measured = peers["measured"] if peers else {"models": {}}
    for model, row in measured["models"].items():
        each = {name: _trial(measured, way, measured["positions"]) for name, way in row["ways"].items()}
        found |= {(model, name, name): mean_interval(list(values / each[OURS])) for name, values in each.items()}
    return points(found, "CPU seconds of a trial, times ours", columns=2)


def tables(*records: store.Record | None) -> Any:
    """Every table of the page with its machine, folded; the records in the order of ``NAMES``."""
    peers, _, pool, grown, sweep, optimizers = records
    made: dict[str, tuple[store.Record | None, Callable[[Measured], pd.DataFrame]]] = {
        "Equal protocol: every way": (peers, equal_protocol),
        "The reference over ours: what is speed, and what is protocol": (peers, protocols),
        "Where the time of a step goes (a multiplication and an addition count two)": (peers, account),
        "More workers: trials of 16 iterations in one process, on one Dask worker and on two": (pool, workers),
        "What Dask costs": (pool, overhead),
        "How the cost grows: time = a level^b": (grown, growth),
        "A sweep of small networks against Lightning: 36 networks in one program": (sweep, images),
        "The least that a stacked step needs": (sweep, image_limits),
        "What an update of the weights costs, beside fused AdamW": (optimizers, updates),
    }
    origins = [origin(record).rename(columns={"": name}) for name, record in zip(NAMES, records, strict=True)]
    every = {title: shown(record, table) for title, (record, table) in made.items()}
    return folded(every | {"On a GPU": on_gpu(), "Machines": pd.concat(origins, axis=1).fillna("")})
