"""How far a study is: trials of every arm by their state, and the time that is left, by a few steps that are timed here
and now, since recorded seconds know neither this machine nor its load. Downloads nothing."""

import json
import math
import time
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from actlab.data.fetch import no_download
from actlab.data.images import load_images
from actlab.errors import ActlabError, DataError
from actlab.records import store
from actlab.study.kinds import kind_of
from actlab.study.kinds.characters import windows_of
from actlab.study.kinds.images import Program, stack_of
from actlab.study.kinds.kind import Kind
from actlab.study.params.yaml_file import StudyParams
from actlab.study.progress import in_time
from actlab.study.trial import train_afresh
from actlab.study.write_record import failure_of
from actlab.trainers import stacked
from actlab.trainers.checkpoint import read_tensors
from actlab.trainers.seeds import generator

LEFT = ("running", "failed", "missing")
STATES = ("recorded", "ended", *LEFT)
SECONDS, MOST, WINDOWS, SLOW = 0.3, 64, 16, 3.0
"""What is timed of a trial: about so long, at most so many steps, so many windows in an evaluation; seconds of a step
that is not timed whole."""
PACE = ("model", "optimizer", "symmetry", "cells", "scale", "dataset", "gated_width", "batch_size")
"""Settings that decide what a step takes, beside the recipe: of trials that share them one is timed."""
Pace = tuple[float, float]
"""Seconds of a step, and of a window's evaluation."""


def of(params: StudyParams) -> pd.DataFrame:
    """One row an arm: ``arm``, its ``trials``, how many are in each state (``ended``: in the cache, their arm has no
    record yet; ``failed``: to be tried again), how many ``diverged``, and the ``seconds`` left on one worker; NaN where
    they cannot be told here. A trial of several arms counts for the first. Without its data a trial counts as missing
    where no record holds it; a record counts by its name. ``attrs["share"]``: of a core that this process had.
    """
    begun = time.process_time(), time.perf_counter()
    kind, seen, paces, rows = kind_of(params), set[Any](), dict[str, Pace](), list[dict[str, Any]]()
    arms = kind.plan(params)
    tasks = kind.tasks(params, arms)
    for arm in arms:
        own = Counter(task for task in tasks[arm] if task not in seen or isinstance(task, Program))
        seen.update(own)
        path, found, seconds = store.path_of(arm.study, arm.id), Counter[str](), 0.0
        if path.exists():
            found.update(recorded=own.total(), diverged=path.read_text().count('"status": "diverged"'))
        for task, count in own.items() if not path.exists() else ():
            with no_download():
                state, ended = _state(kind, task)
                found[state] += count
                found["diverged"] += sum(
                    trial["status"] == "diverged" for trial in ended and kind.own(arm, task, ended)
                )
                seconds += 0.0 if ended else count * _seconds(kind, task, paces)
        failed = json.loads(path.read_text())["trials"] if (path := failure_of(arm)).exists() else ()
        found["failed"] = min(found["missing"], sum(trial["status"] == "failed" for trial in failed))
        found["missing"] -= found["failed"]
        counts = {state: found[state] for state in (*STATES, "diverged")}
        rows.append({"arm": arm.id, "trials": own.total(), **counts, "seconds": seconds})
    table = pd.DataFrame(rows)
    table.attrs["share"] = (time.process_time() - begun[0]) / (time.perf_counter() - begun[1])
    return table


def _state(kind: Kind, task: Any) -> tuple[str, Any]:
    """Of a trial without a record; with its results, if it has ended."""
    with suppress(DataError):  # what is cached is known by its data, too
        place = kind.cached(task)
        if place.exists():
            return "ended", _results(place)
        try:
            with FileLock(lock, timeout=0) if (lock := place.with_suffix(".lock")).exists() else nullcontext():
                pass
        except Timeout:  # another process works on it
            return "running", ()
    return "missing", ()


@lru_cache(maxsize=8)
def _results(place: Path) -> Any:
    return read_tensors(place)[1]


def _seconds(kind: Kind, task: Any, paces: dict[str, Pace]) -> float:
    """What a trial takes on one worker; NaN where its data or device is not here, or a part of it fails."""
    alike = str([getattr(task, name, "") for name in (*PACE, "recipe")])
    try:
        if alike not in paces:
            paces[alike] = math.nan, math.nan  # where it fails, so does its like
            paces[alike] = _pace_of_program(task) if isinstance(task, Program) else _pace(task)
        step, window = paces[alike]
        if isinstance(task, Program):
            images = kind.data(task)["train"]["images"]
            return step * math.ceil(images / task.batch_size) * task.epochs / kind.size(task)
        characters, snapshots = hasattr(task, "prediction_windows"), getattr(task, "snapshots", ())
        windows = windows_of(task)[1] if characters else kind.compared_on(task)
        compared = task.prediction_windows * (1 + len(snapshots)) if characters else 0
        last, every = task.recipe.iterations, task.recipe.evaluate_every
        evaluations = len({*range(0, last, every), last, *snapshots})
        return step * last + window * (evaluations * len(windows.inputs) + compared)
    except (ActlabError, KeyError):
        return math.nan


def _pace(task: Any) -> Pace:
    """Of a trial of a language model that is cut short; the first of three prepares, and the second says how many steps
    fill the time. A step of many seconds is timed with one sequence in place of the batch."""
    batch = getattr(task.recipe, "batch_size", 1)
    for _ in range(2):
        step, window = _timed(task, 1, 1, **{"batch_size": 1} if batch > 1 else {})
    if batch * step > SLOW:
        return batch * step, window
    steps = 1
    for _ in range(3):
        step, window = _timed(task, steps, WINDOWS)
        steps = max(1, min(MOST, int(SECONDS / step)))
    return step, window


def _timed(task: Any, steps: int, windows: int, **smaller: int) -> Pace:
    """Of so many steps, with evaluations of so many windows."""
    small = {name: windows for name in ("validation_windows", "prediction_windows") if hasattr(task, name)}
    recipe = replace(task.recipe, iterations=steps, evaluate_every=steps, **smaller)
    done, _ = train_afresh(replace(task, recipe=recipe, **small))
    evaluated = windows * (len(done["history"]) + len(small) - 1)
    return done["seconds"]["training"] / steps, done["seconds"]["evaluation"] / evaluated


def _pace_of_program(task: Program) -> Pace:
    """Of a program of the image sweep, in a few batches."""
    images = load_images(task.dataset, task.protocol)
    stack, _ = stack_of(task, images.features)
    orders, few = [generator(seed, "order") for seed in task.seeds], slice(MOST // 4 * task.batch_size)
    for _ in range(2):  # the first prepares
        since = time.perf_counter()
        stacked.train(stack, images.train.pixels[few], images.train.labels[few], task.batch_size, 1, orders)
    return (time.perf_counter() - since) / (MOST // 4), 0.0


def in_words(found: pd.DataFrame, workers: int, start: float = 0.0) -> str:
    """The sums in one sentence; ``start``: seconds that a run needs before it trains. On a busy machine, where this
    process had a share of a core only, another worker is taken to bring as much more as that share."""
    sums = found.sum(numeric_only=True).astype(int)
    told, left, time = [f"{sums[state]} {state}" for state in STATES], sum(sums[list(LEFT)]), ""
    if sums["diverged"]:
        told[-1] += f"; {sums['diverged']} diverged"
    if left and found["seconds"].isna().any():
        time = "; how long it takes cannot be told here, without its data, device or parts"
    elif left:
        at_once = 1 + (min(workers, left) - 1) * min(1.0, found.attrs["share"])
        seconds, plural = start + found["seconds"].sum() / at_once, "s" * (workers > 1)
        time = f"; about {in_time(seconds)} left on {workers} worker{plural}"
    return f"{sums['trials']} trials of {len(found)} arms: {', '.join(told)}{time}"
