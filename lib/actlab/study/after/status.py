"""How far a study is: trials of every arm by their state, from records, cache and locks, and the time that is left,
from what ended trials took. Downloads nothing."""

import json
import math
from collections import Counter, defaultdict
from contextlib import suppress
from statistics import median
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from actlab.data.fetch import no_download
from actlab.errors import DataError
from actlab.study.arm import Arm, together
from actlab.study.cache import cached, place_of
from actlab.study.progress import in_time, names_of, seconds_of
from actlab.study.record import failure_of, recorded
from actlab.study.study import Study
from actlab.study.trial import Results, Task, Trial

LEFT = ("running", "failed", "missing")
STATES = ("recorded", "ended", *LEFT)
PACE = ("model", "network", "optimizer", "scale", "hidden", "iterations", "epochs", "batch_size", "device", "dtype")
"""Settings that decide how long a trial takes: those that share them all are taken to need the same time."""


def of(study: Study) -> pd.DataFrame:
    """One row an arm: ``arm``, as a run calls it, its ``trials``, how many are in each state (``ended``: in the cache,
    their arm has no record yet; ``failed``: to be tried again), how many ``diverged``, and the ``seconds`` left on one
    worker, by the median of ended trials; NaN before a first one of its kind has ended. A trial of several arms counts
    for the first. Without its data a trial counts as missing where no record holds it.
    """
    arms = study.arms()
    names, snapshots, seen = names_of(arms), together(arms), set[Trial]()
    spent, rows = defaultdict[str, list[float]](list), list[dict[str, Any]]()
    for arm in arms:
        record = recorded(arm)
        results = {trial["label"]: trial for trial in record["trials"]} if record else {}
        failed, counts = failed_labels(arm), Counter[str]()
        own = [trial for trial in arm.trials if trial not in seen]
        seen.update(own)
        for trial in own:
            state, found = "recorded", results.get(trial.label)
            if found is None:
                state, found = state_of(Task((trial,), snapshots[trial]))
            if state == "missing" and trial.label in failed:
                state = "failed"
            counts.update([state, *(["diverged"] if found.get("status") == "diverged" else [])])
            if "seconds" in found:
                spent[pace_of(arm)].append(seconds_of(found))
        states = {state: counts[state] for state in (*STATES, "diverged")}
        rows.append({"arm": names[arm], "trials": len(own), **states, "pace": pace_of(arm)})
    table = pd.DataFrame(rows)
    left, pace = table[list(LEFT)].sum(axis=1), table.pop("pace")
    return table.assign(seconds=(left * pace.map(lambda each: median(spent[each] or [math.nan]))).where(left > 0, 0.0))


def pace_of(arm: Arm) -> str:
    """What decides how long a trial of an arm takes."""
    return repr([getattr(arm.trials[0], name, None) for name in PACE])


def failed_labels(arm: Arm) -> set[str]:
    """Labels of the trials that failed when an arm was run last."""
    with suppress(OSError, ValueError):
        return {trial["label"] for trial in json.loads(failure_of(arm).read_text())["trials"] if "error" in trial}
    return set()


def state_of(task: Task) -> tuple[str, Results]:
    """The state of a trial without a record, and its results, if it has ended."""
    try:
        with no_download(), suppress(DataError):  # what is cached is known by its data, too
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
    """Until all is recorded; NaN before a first trial of each kind has ended."""
    left = int(table[list(LEFT)].to_numpy().sum())
    return float(table["seconds"].sum(skipna=False)) / max(1, min(workers, left))


def in_words(table: pd.DataFrame, workers: int) -> str:
    """The sums of the table in one sentence."""
    sums, seconds = table.sum(numeric_only=True).astype(int, errors="ignore"), seconds_left(table, workers)
    states = [f"{int(sums[state])} {state}" for state in STATES]
    if sums["diverged"]:
        states[-1] += f"; {int(sums['diverged'])} diverged"
    rest = f"; about {in_time(seconds)} left on {workers} {'workers' if workers > 1 else 'worker'}" if seconds else ""
    if math.isnan(seconds):
        rest = "; how long it takes can be told when a first trial of each kind has ended"
    return f"{int(sums['trials'])} trials of {len(table)} arms: {', '.join(states)}{rest}"
