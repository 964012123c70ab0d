"""How far a study is: trials done, running and missing of every arm, and the time that is left by recorded seconds.
Trains nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from actlab.records import tables
from actlab.study.finish import recorded
from actlab.study.params import StudyParams
from actlab.study.trial import cached, kind_of


def of(params: StudyParams) -> pd.DataFrame:
    """One row an arm: ``arm``, ``trials`` planned, ``recorded``, ``ended`` (in the cache: their arm has no record yet),
    ``running``, ``missing``, and ``seconds``: left for running and missing trials on one worker; NaN where nothing of
    its kind is recorded.
    """
    arms = kind_of(params).arms_of(params)
    spent = _seconds(params.study)
    return pd.DataFrame([_row(params, arm, spent) for arm in arms])


def _row(params: StudyParams, arm: Any, spent: pd.DataFrame) -> dict[str, Any]:
    places = [cached(task) for task in kind_of(params).tasks_of(params, arm)]  # in which its trials end
    row: dict[str, Any] = {"arm": arm.id, "trials": len(places), "recorded": 0, "ended": 0, "running": 0, "missing": 0}
    for place in places if recorded(arm) is None else ():
        row["ended" if place.exists() else "running" if _held(place.with_suffix(".lock")) else "missing"] += 1
    if not row["ended"] + row["running"] + row["missing"]:
        row["recorded"] = len(places)
    left = row["running"] + row["missing"]
    return row | {"seconds": left * _each(arm, spent) if left else 0.0}


def _held(lock: Path) -> bool:
    """Whether another process works on it."""
    if not lock.exists():
        return False
    try:
        with FileLock(lock, timeout=0):
            return False
    except Timeout:
        return True


def _seconds(study: str) -> pd.DataFrame:
    """Recorded trials with their seconds: of the study, else of every study."""
    every = tables.studies()
    names = [study] if study in every else every
    found = [tables.load(name)[0] for name in names]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=["seconds"])


def _each(arm: Any, spent: pd.DataFrame) -> float:
    """Seconds of one of the arm's trials: the mean over recorded ones that share as much of model, scale and batch
    size, by optimizer step."""
    own = _about(arm)
    length = "epochs" if "epochs" in own else "iterations"
    if length not in spent:
        return float("nan")
    found = spent[spent["seconds"].notna() & spent[length].notna()]
    for names in (
        ("model", "activation", "scale", "batch_size"),
        ("model", "scale", "batch_size"),
        ("model", "scale"),
        ("scale",),
    ):
        same = _matching(found, {name: own[name] for name in names if name in own})
        if len(same):
            return float((same["seconds"] / same[length]).mean() * own[length])
    return float("nan")


def _matching(table: pd.DataFrame, wanted: dict[str, Any]) -> pd.DataFrame:
    for name, value in wanted.items():
        table = table[table[name] == value] if name in table else table[:0]
    return table


def _about(arm: Any) -> dict[str, Any]:
    flat = {**arm.config, **arm.config.get("recipe", {})}
    return {
        name: flat[name]
        for name in ("model", "activation", "scale", "batch_size", "iterations", "epochs")
        if name in flat
    }


def in_words(found: pd.DataFrame, workers: int) -> str:
    """The sum in one sentence."""
    left = int((found["running"] + found["missing"]).sum())
    sums = {name: int(found[name].sum()) for name in ("trials", "recorded", "ended", "running", "missing")}
    told = ", ".join(f"{count} {name}" for name, count in sums.items() if name != "trials")
    unknown = int((found["seconds"].isna()).sum())
    time = (
        ""
        if not left
        else f"; about {_time(found['seconds'].sum() / workers)} left on {workers} worker{'' if workers == 1 else 's'}"
    )
    if unknown:
        time = (
            f"{time}, and {unknown} arms of which no time is recorded"
            if unknown < len(found)
            else "; no time is recorded for such trials"
        )
    return f"{sums['trials']} trials of {len(found)} arms: {told}{time}"


def _time(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
