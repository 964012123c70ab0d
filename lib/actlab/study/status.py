"""How far a study is: trials done, running and missing of every arm, and the time that is left by recorded seconds.
Trains and downloads nothing."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cache, partial
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from actlab import paths
from actlab.data.fetch import no_download
from actlab.errors import DataError, RecordError
from actlab.records import store, tables
from actlab.study.kinds import kind_of
from actlab.study.params.study import StudyParams
from actlab.study.progress import in_time
from actlab.study.trial import cached

STATES = ("recorded", "ended", "running", "missing")


def of(params: StudyParams) -> pd.DataFrame:
    """One row an arm: ``arm``, ``trials`` planned, ``recorded``, ``ended`` (in the cache: their arm has no record yet),
    ``running``, ``missing``, and ``seconds``: left for running and missing trials on one worker; NaN where nothing of
    its kind is recorded. Without its data a trial counts as missing where no record holds it. A record counts by its
    name; records are read for seconds alone.
    """
    kind, spent, rows = kind_of(params), cache(partial(_seconds, params.study)), []
    names = {path.stem for path in store.folder_of(params.study).glob("*.json")}
    arms = kind.plan(params)
    tasks = kind.tasks(params, arms)
    for arm in arms:
        name = arm.id
        with no_download():
            states = ["recorded" if name in names else _state(task) for task in tasks[arm]]
        counts = {state: states.count(state) for state in STATES}
        left = counts["running"] + counts["missing"]
        seconds = left * _each(arm, spent()) if left else 0.0
        rows.append({"arm": name, "trials": len(states), **counts, "seconds": seconds})
    return pd.DataFrame(rows)


def _state(task: Any) -> str:
    """Of a trial without a record."""
    try:
        place = cached(task)
    except DataError:  # what is cached is known by its data, too
        return "missing"
    lock = place.with_suffix(".lock")
    if place.exists() or not lock.exists():
        return "ended" if place.exists() else "missing"
    try:
        with FileLock(lock, timeout=0):
            return "missing"
    except Timeout:  # another process works on it
        return "running"


def _seconds(study: str) -> pd.DataFrame:
    """Recorded trials with their seconds: of the study, else of every study."""
    found = [tables.of_records(store.load_study(study))[0]]
    for folder in paths.results().glob("*") if found[0].empty else ():
        with suppress(RecordError):  # the damage of another study is told where that is run
            found.append(tables.of_records(store.load_study(folder.name))[0])
    return pd.concat(found, ignore_index=True)


def _each(arm: Any, spent: pd.DataFrame) -> float:
    """Seconds of one of the arm's trials: the mean over recorded ones that share as much of model, scale and batch
    size, by optimizer step."""
    own = {**arm.config, **arm.config.get("recipe", {})}
    length = "epochs" if "epochs" in own else "iterations"
    if length not in spent:
        return math.nan
    a_step = spent["seconds"] / spent[length]
    for shared in ("model activation scale batch_size", "model scale batch_size", "model scale", "scale"):
        names = [name for name in shared.split() if name in own]
        alike = (spent.reindex(columns=names) == [own[name] for name in names]).all(axis="columns")
        if len(same := a_step[alike].dropna()):
            return float(same.mean() * own[length])
    return math.nan


def in_words(found: pd.DataFrame, workers: int) -> str:
    """The sum in one sentence."""
    sums = found[["trials", *STATES]].sum()
    told, time = ", ".join(f"{sums[state]} {state}" for state in STATES), ""
    if sums["running"] + sums["missing"]:
        plural = "" if workers == 1 else "s"
        time = f"; about {in_time(found['seconds'].sum() / workers)} left on {workers} worker{plural}"
    if (unknown := int(found["seconds"].isna().sum())) == len(found):
        time = "; no time is recorded for such trials"
    elif unknown:
        time += f", and {unknown} arms of which no time is recorded"
    return f"{sums['trials']} trials of {len(found)} arms: {told}{time}"
