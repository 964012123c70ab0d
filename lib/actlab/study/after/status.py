"""How far a study is: trials of every arm by their state, from records, cache and locks, and the time that is left,
from what ended trials took. Downloads and tokenizes nothing."""

import math
from contextlib import suppress
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from actlab.data.fetch import nothing_prepared
from actlab.errors import DataError
from actlab.study.arm import names_of, together
from actlab.study.cache import cached, place_of
from actlab.study.record import recorded
from actlab.study.study import Study
from actlab.study.trial import Results, Task, Trial

STATES = ("recorded", "ended", "running", "missing")
PACE = ("model", "network", "optimizer", "scale", "hidden", "iterations", "epochs", "batch_size", "device", "dtype")
"""Settings that decide how long a trial takes: those that share them all are taken to need the same time."""


def of(study: Study) -> pd.DataFrame:
    """Make a table of one row an arm: ``arm``, as a run calls it, its ``trials``, how many are in each state
    (``ended``: in the cache, their arm has no record yet), how many ``diverged``, and the ``seconds`` left on one
    worker, by the median of ended trials; NaN before a first one of its kind has ended. A trial of several arms counts
    for the first. Without its data a trial counts as missing where no record holds it.
    """
    arms = study.arms()
    names, snapshots = names_of(arms), together(arms)
    rows: dict[Trial, dict[str, Any]] = {}
    for arm in arms:
        record = recorded(arm) or {"trials": ()}
        in_record = {results["label"]: ("recorded", results) for results in record["trials"]}
        for trial in arm.trials:
            if trial in rows:
                continue
            state, results = in_record.get(trial.label) or state_of(Task((trial,), snapshots[trial]))
            seconds = results.get("seconds", math.nan)  # a share of its program, or those of its parts
            rows[trial] = {
                "arm": names[arm],
                "trials": 1,
                **{name: int(name == state) for name in STATES},
                "diverged": int(results.get("status") == "diverged"),
                "seconds": sum(seconds.values()) if isinstance(seconds, dict) else seconds,
                "pace": repr([getattr(trial, name, None) for name in PACE]),
            }
    table = pd.DataFrame(rows.values())
    unfinished = table["running"] + table["missing"]
    table["seconds"] = table.groupby("pace")["seconds"].transform("median").where(unfinished > 0, 0.0)
    return table.drop(columns="pace").groupby("arm", sort=False).sum(min_count=1).reset_index()


def state_of(task: Task) -> tuple[str, Results]:
    """Find the state of a trial without a record, and its results, if it has ended."""
    try:
        with nothing_prepared(), suppress(DataError):  # what is cached is known by its data, too
            if (results := cached(task)) is not None:
                return "ended", results[0]
            lock = place_of(task.first).with_suffix(".lock")
            if lock.exists():
                with FileLock(lock, timeout=0):
                    pass
    except Timeout:  # another process works on it
        return "running", {}
    return "missing", {}


def seconds_left(table: pd.DataFrame, workers: int) -> float:
    """Estimate the seconds until all is recorded; NaN before a first trial of each kind has ended."""
    unfinished = int(table[["running", "missing"]].to_numpy().sum())
    return float(table["seconds"].sum(skipna=False)) / max(1, min(workers, unfinished))
