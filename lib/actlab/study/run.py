"""A study of any kind from its parameters to its records: what is recorded is loaded, what is cached is reused, the
rest is trained."""

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from actlab.errors import BadInput, brief, check_number
from actlab.records import store
from actlab.study import provenance
from actlab.study.arm import Arm, together
from actlab.study.cache import has_ended, run_task, whereabouts
from actlab.study.params import study_of
from actlab.study.progress import Ended, Recorded, Started, Training, Watch, names_of, unwatched
from actlab.study.record import check_growth, finish, record_of, recorded
from actlab.study.study import Study
from actlab.study.trial import Results, Task, Trial
from actlab.study.workers.pool import run_tasks
from actlab.trainers.setup import missing_device


@dataclass(frozen=True)
class StudyRecords:
    """The records of a study by its arms, in their order."""

    found: dict[Arm, store.Record | None]
    """``None`` where an arm has none."""

    @property
    def arms(self) -> list[Arm]:
        """All of them."""
        return [*self.found]

    @property
    def present(self) -> list[store.Record]:
        """The records that there are."""
        return [record for record in self.found.values() if record is not None]

    @property
    def missing(self) -> list[Arm]:
        """The arms without a record."""
        return [arm for arm, record in self.found.items() if record is None]

    @property
    def failed(self) -> list[tuple[Arm, Results]]:
        """Arms and those of their trials that raised, with the results that say so."""
        failed: list[tuple[Arm, Results]] = []
        for arm, record in self.found.items():
            trials = record["trials"] if record else ()
            failed += [(arm, trial) for trial in trials if trial["status"] == "failed"]
        return failed


def load(study: Study) -> StudyRecords:
    """What is recorded of a study; trains nothing."""
    return StudyRecords({arm: recorded(arm) for arm in study.arms()})


def tasks_of(arms: Sequence[Arm]) -> list[Task]:
    """What trains for some arms of one study: each trial once, whichever of them share it."""
    asked = together(arms)
    if not asked:
        return []
    groups = arms[0].trials[0].grouped([*asked])
    return [Task(group, asked[group[0]]) for group in groups]


def run(
    study: Study,
    workers: int = 1,
    watch: Watch = unwatched,
    scheduler: str = "",
) -> StudyRecords:
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
    check_number("a whole number of workers, 1 or more", workers, 1, whole=True)
    provenance.code()  # before anything can change the files that this process has loaded
    found = load(study)
    if not scheduler:
        _check_devices({arm.trials[0].place for arm in found.missing})
    study.prepare(found.missing)
    told = set[str]()
    while True:
        called = names_of(found.arms)
        for arm, record in found.found.items():
            if record is not None and arm.id not in told:
                watch(Recorded(called[arm], record))
        told |= {arm.id for arm in found.arms}
        if not found.missing:
            return found
        for arm, record in _trained(found.missing, called, workers, watch, scheduler):
            found.found[arm] = record
            watch(Recorded(called[arm], record))
        if found.failed:
            return found
        found = load(study)


def _trained(
    arms: Sequence[Arm], called: Mapping[Arm, str], workers: int, watch: Watch, scheduler: str
) -> Iterator[tuple[Arm, store.Record]]:
    """Train what the arms need; arms and their new records, each when its last trial has ended."""
    tasks = tasks_of(arms)
    there = {task for task in tasks if has_ended(task)}
    cached = sum(len(task.trials) for task in there)
    missing = sum(len(task.trials) for task in tasks if task not in there)
    watch(Started(missing, cached))
    arms_of = defaultdict[Trial, list[Arm]](list)
    for arm in arms:
        for trial in arm.trials:
            arms_of[trial].append(arm)

    def report(task: Task, iteration: int, loss: float) -> None:
        watch(Training(called[arms_of[task.first][0]], task.first.label, task.first.length, iteration, loss))

    gpu = any(task.first.place != "cpu" for task in tasks)
    ended: dict[Trial, Results] = {}
    train = partial(run_task, starter=whereabouts())
    for task, every in run_tasks(train, tasks, workers, report, scheduler=scheduler, gpu=gpu):
        for trial, results in zip(task.trials, every, strict=True):
            ended[trial] = results
            watch(Ended(called[arms_of[trial][0]], trial.label, results, task in there))
            for arm in arms_of[trial]:
                check_growth(arm, results)
                if all(each in ended for each in arm.trials):
                    yield arm, finish(arm, record_of(arm, [ended[each] for each in arm.trials]))


def bring(study: Study, train_missing: bool, workers: int = 0) -> list[store.Record]:
    """A study's records for a notebook: trained where they are missing, or only loaded. ``workers`` = 0 takes one
    process a core. What is still missing is told of in a line.

    Raises:
        BadInput: there is no record of any arm.
    """
    found = run(study, workers or os.cpu_count() or 1) if train_missing else load(study)
    if not found.present:
        raise BadInput(f"{store.where(study.study)} has no record of these settings yet: train_missing=True makes them")
    if lacks := found.missing:
        called = names_of(found.arms)
        more = f" and {len(lacks) - 3} more" if len(lacks) > 3 else ""
        print(
            f"{store.where(study.study)} lacks {len(lacks)} of {len(found.arms)} configurations, which "
            f"train_missing=True makes: {'; '.join(called[arm] for arm in lacks[:3])}{more}"
        )
    return found.present


def run_experiment(model: str, activation: str, params: Study | dict[str, Any]) -> store.Record:
    """Train every trial of one arm in this process and return its record; what is done already is not done again.

    Args:
        model: a key of ``MODELS``.
        activation: a key of ``ACTIVATIONS``.
        params: the other settings; ``model``, ``activation``, ``noise_floor`` and ``perturbations`` in it are not
            used.

    Raises:
        BadInput: several arms: a list of values of a setting, or ``tuning``.
    """
    values = params.model_dump() if isinstance(params, Study) else params
    if not isinstance(values, dict):
        raise BadInput(f"expected the parameters of a study, or a dictionary of them, got {brief(values)}")
    only = {"model": model, "activation": activation, "noise_floor": False, "perturbations": ()}
    kind = study_of("repro")
    study = kind.parse({**values, **only})
    several = [name for name in study.axes if len(study.levels(name)) > 1]
    if several or values.get("tuning"):
        raise BadInput(
            f"one experiment is one arm, not several levels of {', '.join(several) or 'a tuned rate'}: give one value, "
            "or run the study with `actlab run`"
        )
    (record,) = run(study).present
    return record


def _check_devices(devices: set[str]) -> None:
    """``BadInput`` where one of them is not here."""
    for device in devices:
        if wrong := missing_device(device):
            raise BadInput(f"device={device}: {wrong}; use device=cpu, or a machine that has it")
