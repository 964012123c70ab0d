"""How far a study is: trials of every arm by their state, from records, cache and locks, and the time that is left,
from what ended trials took. Downloads nothing."""

import json
import math
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from statistics import median
from typing import Any, NamedTuple

import pandas as pd
from filelock import FileLock, Timeout

from actlab.data.fetch import no_download
from actlab.errors import DataError
from actlab.study.arm import Arm, together
from actlab.study.cache import cached, place_of
from actlab.study.progress import in_time, seconds_of
from actlab.study.record import failure_of, recorded
from actlab.study.study import Study
from actlab.study.trial import Results, Task, Trial

LEFT = ("running", "failed", "missing")
STATES = ("recorded", "ended", *LEFT)
NO_PACE = {
    *("seed", "change", "parts", "varies", "fixed"),
    *("learning_rate", "weight_decay", "schedule", "warmup", "rate_factor", "betas"),
}
"""Settings that a step's time does not depend on: of trials that share all others, one is timed."""


class Found(NamedTuple):
    """How far one trial is: the first arm that has it, its state, and what it has left."""

    arm: Arm
    state: str
    results: Results


def of(study: Study, arms: list[Arm] | None = None) -> pd.DataFrame:
    """One row an arm: ``arm``, its ``trials``, how many are in each state (``ended``: in the cache, their arm has no
    record yet; ``failed``: to be tried again), how many ``diverged``, and the ``seconds`` left on one worker; NaN where
    they cannot be told here. A trial of several arms counts for the first. Without its data a trial counts as missing
    where no record holds it. ``attrs``: the ``share`` of a core that this process had; ``as_recorded``, row by row,
    where a time cannot be told. ``arms``: those of the study, where they are at hand.
    """
    worked, begun = time.process_time(), time.perf_counter()
    if arms is None:
        arms = study.arms()
    every = found_of(arms)
    known = seconds_known(every)
    counts = dict.fromkeys(("trials", *STATES, "diverged"), 0)
    rows: dict[Arm, dict[str, Any]] = {arm: {"arm": arm.id, **counts, "seconds": 0.0} for arm in arms}
    for trial, (arm, state, results) in every.items():
        row = rows[arm]
        row["trials"] += 1
        row[state] += 1
        if results.get("status") == "diverged":
            row["diverged"] += 1
        if state in LEFT:
            pace = pace_of(trial)
            if pace not in known:
                known[pace] = math.nan
            row["seconds"] += known[pace]
    table = pd.DataFrame(rows.values())
    if table["seconds"].isna().any():
        table.attrs["as_recorded"] = as_recorded(arms).reset_index().to_dict("records")
    table.attrs["share"] = (time.process_time() - worked) / (time.perf_counter() - begun)
    return table


def found_of(arms: list[Arm]) -> dict[Trial, Found]:
    """Each trial of some arms, of the first that has it."""
    asked = together(arms)
    every: dict[Trial, Found] = {}
    for arm in arms:
        record = recorded(arm)
        labelled = {trial["label"]: trial for trial in record["trials"]} if record else {}
        failed = _failed(arm)
        for trial in arm.trials:
            if trial in every:
                continue
            if trial.label in labelled:
                state, results = "recorded", labelled[trial.label]
            else:
                state, results = state_of(Task((trial,), asked[trial]))
            if state == "missing" and trial.label in failed:
                state = "failed"
            every[trial] = Found(arm, state, results)
    return every


def _failed(arm: Arm) -> set[str]:
    """Labels of the trials that failed when an arm was run last; none where the file that tells of them cannot be
    read, which the next run writes again."""
    with suppress(OSError, ValueError, LookupError, TypeError):
        trials = json.loads(failure_of(arm).read_text())["trials"]
        return {trial["label"] for trial in trials if trial["status"] == "failed"}
    return set()


def state_of(task: Task) -> tuple[str, Results]:
    """Of a trial without a record; with its results, if it has ended."""
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


def seconds_known(every: Mapping[Trial, Found]) -> dict[str, float]:
    """``pace_of`` a trial -> what those have taken that share it and have ended, in records or in the cache."""
    spent = defaultdict[str, list[float]](list)
    for trial, found in every.items():
        if "seconds" in found.results:
            spent[pace_of(trial)].append(seconds_of(found.results))
    return {pace: median(each) for pace, each in spent.items()}


def pace_of(trial: Trial) -> str:
    """What decides how long a trial takes."""
    return repr(sorted((name, value) for name, value in trial.model_dump().items() if name not in NO_PACE))


def as_recorded(arms: Sequence[Arm]) -> pd.DataFrame:
    """A row a ``device`` of the study's records: how many trials were ``recorded`` on it, their mean ``seconds``, how
    many are ``missing`` in all, and the ``hours`` that these would take at that pace, one after the other."""
    spent: dict[Trial, tuple[str, float]] = {}
    for arm in arms:
        if record := recorded(arm):
            device = record["provenance"]["machine"]["processor" if arm.trials[0].place == "cpu" else "gpu"]
            for trial, results in zip(arm.trials, record["trials"], strict=True):
                spent.setdefault(trial, (device, seconds_of(results)))
    table = pd.DataFrame(spent.values(), columns=["device", "seconds"]).groupby("device", sort=False)["seconds"]
    missing, found = len(together(arms)) - len(spent), table.agg(recorded="count", seconds="mean")
    return found.assign(missing=missing, hours=missing * found["seconds"] / 3600)


def seconds_left(found: pd.DataFrame, workers: int, start: float = 0.0) -> float:
    """Until all is recorded; NaN where that cannot be told here. ``start``: seconds that a run needs before it trains.
    On a busy machine, where this process had a share of a core only, another worker is taken to bring as much more as
    that share."""
    left = int(found[list(LEFT)].to_numpy().sum())
    at_once = 1 + (min(workers, left) - 1) * min(1.0, found.attrs["share"])
    return start + float(found["seconds"].sum(skipna=False)) / at_once if left else 0.0


def in_words(found: pd.DataFrame, workers: int, start: float = 0.0) -> str:
    """The sums in one sentence; ``start``: as of ``seconds_left``."""
    sums = found.sum(numeric_only=True).astype(int)
    told = [f"{sums[state]} {state}" for state in STATES]
    if sums["diverged"]:
        told[-1] += f"; {sums['diverged']} diverged"
    seconds = seconds_left(found, workers, start)
    rest = ""
    if math.isnan(seconds):
        rest = "; how long it takes cannot be told here, without its data, device or parts"
        for on in found.attrs["as_recorded"]:
            about = in_time(3600 * on["hours"])
            rest += f"; about {about} on {on['device']}, by {on['recorded']} trials that were recorded there"
    elif sums[list(LEFT)].any():
        rest = f"; about {in_time(seconds)} left on {workers} {'workers' if workers > 1 else 'worker'}"
    return f"{sums['trials']} trials of {len(found)} arms: {', '.join(told)}{rest}"
