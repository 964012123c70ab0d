"""Replay of many recorded trials: which ones, by a random sample, and where they run."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from actlab import paths
from actlab.errors import ActlabError, UnknownName
from actlab.records import store
from actlab.study import provenance
from actlab.study.pool import Report, run_tasks
from actlab.study.progress import Event, Watch
from actlab.study.replay import Replay, Task, keep, replay_task, seconds_of
from actlab.study.trial import KINDS, specification


@dataclass(frozen=True)
class Impossible:
    """A trial that cannot be replayed here, and why: its data is not here, say."""

    task: Task
    sentence: str


def recorded_trials(study: str = "", label: str | None = None) -> list[Task]:
    """Every trial that replay knows, of all records below ``results/`` or of one study, in the order of the files;
    ``label``: with this label."""
    known = sorted(folder.name for folder in paths.results().glob("*") if any(folder.glob("*.json")))
    if study and study not in known:
        raise UnknownName("study", study, known, str(paths.results()))
    files = [path for name in ([study] if study else known) for path in sorted((paths.results() / name).glob("*.json"))]
    every = {sign for kind in KINDS.values() for sign in kind.OWN}
    replayable = [(path, record) for path in files if (record := store.load(path)).get("kind") in every]
    return [
        Task(
            path,
            record["arm"],
            record["study"],
            trial["label"],
            seconds_of(trial),
            specification(record, trial["label"]),
        )
        for path, record in replayable
        for trial in record["trials"]
        if label in (None, trial["label"])
    ]


def sample(tasks: Sequence[Task], size: int | None = None, seed: int = 0, minutes: float = math.inf) -> list[Task]:
    """``size`` trials at random (all of them unless given), the studies taking turns so that none is left out for its
    size.

    ``minutes`` leaves out trials whose recorded training took longer: the sample then says nothing about those.
    """
    queues: dict[str, list[Task]] = {}
    for task in tasks:
        if task.seconds <= 60 * minutes:
            queues.setdefault(task.study, []).append(task)
    draw = random.Random(seed)
    for queue in queues.values():
        draw.shuffle(queue)
    turns = [
        queue[i]
        for i in range(max(map(len, queues.values()), default=0))
        for queue in queues.values()
        if i < len(queue)
    ]
    return turns[:size]


def replay_all(tasks: Sequence[Task], workers: int = 1, watch: Watch | None = None) -> Iterator[Replay | Impossible]:
    """Replay trials through the pool, and yield each as it ends, its history written: an interruption loses only those
    under way."""
    tell = watch or (lambda event: None)
    provenance.code()  # before anything can change the files that this process has loaded
    if tasks:
        tell(Event("start", tasks[0], total=len(tasks)))
    running = run_tasks(
        _attempt,
        tasks,
        workers,
        lambda place, iteration, loss: tell(Event("progress", tasks[place], tasks[place].trial, iteration, loss)),
        say=lambda note: tell(Event("note", tasks[0], note=note)),
    )
    for place, outcome in running:
        if isinstance(outcome, Replay):
            keep(outcome)
        tell(Event("trial", tasks[place], tasks[place].trial))
        yield outcome


def _attempt(task: Task, report: Report) -> Replay | Impossible:
    try:
        return replay_task(task, report)
    except ActlabError as error:
        return Impossible(task, f"{task.id} trial {task.label}: not replayed: {error}")
