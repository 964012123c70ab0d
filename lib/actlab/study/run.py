"""A study of any kind from its parameters to its records: what is recorded is loaded, what is cached is reused, the
rest is trained."""

import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from actlab.errors import BadInput
from actlab.records import store
from actlab.study.arm import Arm, names_of, together
from actlab.study.cache import ONE_TRIAL, cached, code, run_task
from actlab.study.params import study_of
from actlab.study.record import check_growth, finish, record_of, recorded
from actlab.study.study import Study
from actlab.study.trial import Results, Task, Trial
from actlab.study.workers.pool import run_tasks
from actlab.trainers.setup import missing_device


@dataclass(frozen=True)
class Started:
    """The run has begun: so many trials are missing, some for the noise floor alone, beside those in the cache."""

    missing: int
    cached: int
    floor: int = 0

    def __str__(self) -> str:
        floor = f" ({self.floor} for the noise floor)" if self.floor else ""
        return f"{self.missing} trials to train{floor}, {self.cached} cached"


@dataclass(frozen=True)
class Training:
    """A trial of an arm, by their names, has done some of its steps."""

    arm: str
    trial: str
    steps: int
    iteration: int
    loss: float

    def __str__(self) -> str:
        return f"{self.arm} {self.trial}: {self.iteration}/{self.steps}, loss {self.loss:.3f}"


@dataclass(frozen=True)
class Ended:
    """A trial of an arm has ended, with its results; or it came from the cache."""

    arm: str
    trial: str
    results: Results
    cached: bool

    @property
    def failure(self) -> str:
        """Say what happened to a trial that did not end well; empty of any other."""
        if self.results.get("status") == "failed":
            return f"failed: {self.results['error']}"
        if self.results.get("status") != "diverged":
            return ""
        history = self.results.get("history")  # networks on images keep none, twins an empty one
        return f"diverged by step {history[-1]['iteration']}" if history else "diverged"

    def __str__(self) -> str:
        return f"{self.arm} {self.trial}: {self.failure}"


@dataclass(frozen=True)
class Recorded:
    """An arm has its record."""

    arm: str
    record: store.Record

    def __str__(self) -> str:
        record = self.record
        if any(trial["status"] == "failed" for trial in record.get("trials", ())):
            return f"{self.arm}: failed"
        variation = record.get("avg_total_variation", math.nan)  # a pair needs two trials
        pairs = "" if math.isnan(variation) else f", TV {variation:.4f}"
        return f"{self.arm}: loss {record['avg_val_loss']:.4f}, accuracy {record['avg_val_accuracy']:.2f}%{pairs}"


Event = Started | Training | Ended | Recorded
"""What a display shows, each as its text says."""
Watch = Callable[[Event], None]


def unwatched(event: Event) -> None:
    """Listen to nothing."""


class StudyRecords(dict[Arm, store.Record | None]):
    """The records of a study by its arms, in their order; ``None`` where an arm has no record."""

    @property
    def present(self) -> list[store.Record]:
        """List the records that there are."""
        return [record for record in self.values() if record is not None]

    @property
    def missing(self) -> list[Arm]:
        """List the arms without a record."""
        return [arm for arm, record in self.items() if record is None]

    @property
    def failed(self) -> list[tuple[Arm, Results]]:
        """List the trials that raised, each with its arm and the results that say so."""
        trials = [(arm, trial) for arm, record in self.items() if record for trial in record["trials"]]
        return [(arm, trial) for arm, trial in trials if trial["status"] == "failed"]


def load(study: Study) -> StudyRecords:
    """Load what is recorded of a study; nothing is trained."""
    return StudyRecords({arm: recorded(arm) for arm in study.arms()})


def tasks_of(arms: Sequence[Arm]) -> list[Task]:
    """Group the trials of some arms of one study into tasks: each trial once, whichever of them share it."""
    snapshots = together(arms)
    groups = arms[0].trials[0].grouped([*snapshots]) if arms else []
    return [Task(group, snapshots[group[0]]) for group in groups]


def run(study: Study, workers: int = 1, watch: Watch = unwatched, scheduler: str = "") -> StudyRecords:
    """Bring a study to its end: arms with a record are loaded, finished trials come from the cache, the rest is
    trained; each arm is recorded as soon as its last trial has ended.

    The arms of a study that chooses learning rates depend on the records of its earlier ones: it runs until none is
    missing.

    Args:
        study: of any kind.
        workers: processes, each on one thread; 1 runs in this process, and where there are GPUs, each trains on one of
            them. The results are the same bits.
        watch: called with every ``Event``, in this process.
        scheduler: address of a Dask scheduler whose workers train, in place of processes here (``pool.run_tasks``).

    Raises:
        BadInput: it cannot be trained as asked; nothing was.
    """
    code()  # before anything can change the files that this process has loaded
    records = load(study)
    if not scheduler:
        for device in {arm.trials[0].place for arm in records.missing}:
            if wrong := missing_device(device):
                raise BadInput(f"device={device}: {wrong}; use device=cpu, or a machine that has it")
    with ONE_TRIAL:
        study.prepare(records.missing)
    names = names_of(records)
    for arm, record in records.items():
        if record is not None:
            watch(Recorded(names[arm], record))
    while records.missing and not records.failed:
        names = names_of(records)
        for arm, record in _trained(records.missing, names, workers, watch, scheduler):
            records[arm] = record
            watch(Recorded(names[arm], record))
        if not records.failed:
            records = load(study)
    return records


def _trained(
    arms: Sequence[Arm], names: Mapping[Arm, str], workers: int, watch: Watch, scheduler: str
) -> Iterator[tuple[Arm, store.Record]]:
    """Train what the arms need; yield arms and their new records, each when its last trial has ended."""
    tasks = tasks_of(arms)
    ended_before = {task for task in tasks if cached(task) is not None}
    arms_of = defaultdict[Trial, list[Arm]](list)
    for arm in arms:
        for trial in arm.trials:
            arms_of[trial].append(arm)
    missing = [trial for task in tasks if task not in ended_before for trial in task.trials]
    floor = sum(all(arm.kind == "floor" for arm in arms_of[trial]) for trial in missing)
    watch(Started(len(missing), len(arms_of) - len(missing), floor))

    def report(task: Task, iteration: int, loss: float) -> None:
        first, steps = task.first, getattr(task.first, "iterations", 0)
        watch(Training(names[arms_of[first][0]], first.label, steps, iteration, loss))

    gpu = any(task.first.place != "cpu" for task in tasks)
    ended: dict[Trial, Results] = {}
    for task, outcomes in run_tasks(run_task, tasks, workers, report, scheduler=scheduler, gpu=gpu):
        for trial, results in zip(task.trials, outcomes, strict=True):
            ended[trial] = results
            watch(Ended(names[arms_of[trial][0]], trial.label, results, task in ended_before))
            for arm in arms_of[trial]:
                check_growth(arm, results)
                if all(other in ended for other in arm.trials):
                    yield arm, finish(arm, record_of(arm, [ended[other] for other in arm.trials]))


def bring(study: Study, train_missing: bool, workers: int = 0) -> list[store.Record]:
    """Load a study's records for a notebook, and train first what is missing if that is asked for. ``workers`` = 0
    takes one process a core. A line says what is still missing.

    Raises:
        BadInput: there is no record of any arm.
    """
    records = run(study, workers or os.cpu_count() or 1) if train_missing else load(study)
    if not records.present:
        raise BadInput(f"{store.where(study.study)} has no record of these settings yet: train_missing=True makes them")
    if missing := records.missing:
        names = names_of(records)
        print(
            f"{store.where(study.study)} lacks {len(missing)} of {len(records)} configurations, which "
            f"train_missing=True makes: {'; '.join(names[arm] for arm in missing)}"
        )
    return records.present


def run_experiment(model: str, activation: str, params: Study | dict[str, Any]) -> store.Record:
    """Train every trial of one arm in this process and return its record; what is done already is not done again.

    Args:
        model: a key of ``MODELS``.
        activation: a key of ``ACTIVATIONS``.
        params: the other settings; ``model``, ``activation``, ``noise_floor`` and ``perturbations`` in it are not
            used. Without ``study`` the record lies in ``results/experiments``.

    Raises:
        BadInput: several arms: a list of values of a setting, or ``tuning``.
    """
    values = params.model_dump() if isinstance(params, Study) else {"study": "experiments", **params}
    only = {"model": model, "activation": activation, "noise_floor": False, "perturbations": ()}
    study = study_of("repro").parse({**values, **only})
    if values.get("tuning") or len(study.arms()) > 1:
        raise BadInput("one experiment is one arm: give one value of every setting, or run the study with `actlab run`")
    (record,) = run(study).present
    return record
