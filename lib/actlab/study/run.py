"""From arms to their records: what every kind of study shares. Knows nothing of what an arm trains."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from filelock import FileLock

from actlab import paths
from actlab.errors import RecordError
from actlab.files import write_text
from actlab.records import store
from actlab.records.settings import config_of, without_trials
from actlab.study.events import Event, Watch
from actlab.study.pool import Report, run_tasks


class Named(Protocol):
    """An arm of any kind of study."""

    @property
    def study(self) -> str: ...  # noqa: D102
    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def config(self) -> dict[str, Any]: ...  # noqa: D102


A = TypeVar("A", bound=Named)
Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Outcome(Generic[A]):
    """The records of a study in the order of its arms; ``None`` where an arm has none."""

    arms: list[A]
    records: list[store.Record | None]
    baseline: store.Record | None = None
    """What the text gives away without a network, for language models."""

    @property
    def present(self) -> list[store.Record]:
        """The records that there are."""
        return [record for record in [self.baseline, *self.records] if record is not None]

    @property
    def missing(self) -> list[A]:
        """The arms without a record."""
        return [arm for arm, record in zip(self.arms, self.records, strict=True) if record is None]

    @property
    def failed(self) -> list[tuple[A, dict[str, Any]]]:
        """Trials that raised, with the results that say so."""
        pairs = zip(self.arms, self.records, strict=True)
        return [(arm, t) for arm, record in pairs if record for t in record["trials"] if t["status"] == "failed"]


def recorded(arm: Named) -> store.Record | None:
    """The arm's record, if it has one."""
    path = store.path_of(arm.study, arm.id)
    return store.load(path) if path.exists() else None


def load_arms(arms: list[A], baseline: store.Record | None = None) -> Outcome[A]:
    """What is recorded of a study; trains nothing."""
    return Outcome(arms, [recorded(arm) for arm in arms], baseline)


def bits_of(trial: dict[str, Any]) -> dict[str, Any]:
    """What has to come out the same: weights and every evaluation; where weights were not kept (image sweep) every
    number that was measured."""
    if "weights_sha256" in trial:
        return {name: trial[name] for name in ("weights_sha256", "history")}
    return {name: value for name, value in trial.items() if name != "seconds"}


def earlier(arm: Named) -> dict[str, dict[str, Any]]:
    """Label -> trial of the smaller records of an arm: its settings, fewer trials.

    An arm that has grown takes its trials from the cache, or trains them again: predictions, which its new pairs need,
    are in no record. Either way ``run_arms`` and ``keep`` hold them to the recorded bits.
    """
    found: dict[str, dict[str, Any]] = {}
    own = store.canonical(without_trials(arm.config))
    name = arm.id.rpartition("-")[0]  # without the hash, which the number of trials enters
    for path in sorted(store.folder_of(arm.study).glob(f"{name}-*.json")):
        if path.stem != arm.id and path.stem.rpartition("-")[0] == name:
            record = store.load(path)
            if store.canonical(without_trials(config_of(record))) == own:
                found |= {trial["label"]: trial for trial in record["trials"]}
    return found


def _check_grown(arm: Named, trial: dict[str, Any], before: dict[str, dict[str, Any]]) -> None:
    known = before.get(str(trial.get("label")))
    if known is None or "failed" in (trial["status"], known["status"]):
        return
    differs = [
        name for name, value in bits_of(known).items() if store.canonical(trial.get(name)) != store.canonical(value)
    ]
    if differs:
        raise RecordError(
            f"{arm.id}: trial {trial['label']} comes out differently here than results/{arm.study} has it ({', '.join(differs)}): a study grows "
            "only where its trials keep their bits, on the same kind of machine with the same versions and training code; grow it there, or "
            "give the larger one a name of its own: --set study=NAME"
        )


def failure_of(arm: Named) -> Path:
    """Where an arm's failed trials leave their tracebacks: ``results/<study>/failed/<arm>-<hash>.json``, which no
    reader takes for a record."""
    path = store.path_of(arm.study, arm.id)
    return path.parent / "failed" / path.name


def keep(arm: Named, record: store.Record) -> store.Record:
    """Write an arm's record and return it as it reads back; where another run of the study has written it meanwhile,
    that one.

    One with a failed trial goes to ``failure_of(arm)`` instead, until the arm, run again, has its record.

    Raises:
        RecordError: the record there holds another result.
    """
    text = json.dumps(record, indent=1) + "\n"
    plain: store.Record = json.loads(text)
    if any(trial["status"] == "failed" for trial in record["trials"]):
        write_text(failure_of(arm), text)
        return plain
    lock = paths.cache() / "arms" / f"{arm.study}-{arm.id}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    before = earlier(arm)
    for trial in plain["trials"]:
        _check_grown(arm, trial, before)
    with FileLock(lock):
        path = store.path_of(arm.study, arm.id)
        if (there := recorded(arm)) is not None:
            if store.canonical([bits_of(t) for t in there["trials"]]) != store.canonical(
                [bits_of(t) for t in plain["trials"]]
            ):
                raise RecordError(f"{path} holds a different result; move it away to record this one")
            return there
        store.save(path, record)
    failure_of(arm).unlink(missing_ok=True)
    return plain


@dataclass(frozen=True)
class Plan(Generic[A, Task, Result]):
    """How the missing arms of a study come to their records."""

    tasks: Sequence[Task]
    needs: Callable[[A], Sequence[int]]
    """The places in ``tasks`` whose results an arm is made of, in the order of its trials."""
    train: Callable[[Task, Report], Result]
    """Importable by name, since workers call it."""
    finish: Callable[[A, list[Result]], store.Record]
    """From the results of what an arm needs to its record, written."""
    trials: Callable[[Task], Sequence[Any]] = field(default=lambda task: [task])
    """The trials that a task trains: each has a ``label``."""
    gpu: bool = False


def trial_by_trial(
    missing: Sequence[Any],
    train: Callable[[Any, Report], Any],
    finish: Callable[[Any, list[Any]], store.Record],
    gpu: bool,
) -> Plan[Any, Any, Any]:
    """The plan of arms that have ``trials``: each is a task; arms that share a trial share the task."""
    places = {
        trial: place for place, trial in enumerate(dict.fromkeys(trial for arm in missing for trial in arm.trials))
    }
    return Plan(list(places), lambda arm: [places[trial] for trial in arm.trials], train, finish, gpu=gpu)


def in_stages(load: Callable[[], Outcome[A]], run_once: Callable[[Outcome[A]], Outcome[A]]) -> Outcome[A]:
    """Run what is missing until nothing is: the arms of a study that chooses learning rates depend on the records of
    its earlier ones."""
    while True:
        outcome = run_once(load())
        planned = load()
        if not planned.missing or outcome.failed:
            return planned if not outcome.failed else outcome


def run_arms(
    outcome: Outcome[A], plan: Plan[A, Task, Result], workers: int = 1, watch: Watch | None = None, scheduler: str = ""
) -> Outcome[A]:
    """Train what the missing arms need and record every arm as soon as its last task has ended; the order of tasks
    decides nothing else.

    Args:
        outcome: what is recorded already.
        plan: the tasks of the missing arms, and how they become records.
        workers: processes, each on one thread; 1 runs in this process. The results are the same bits.
        watch: called with every ``Event``, in this process.
        scheduler: address of a Dask scheduler whose workers train, in place of processes here (``pool.run_tasks``).
    """
    tell = watch or (lambda event: None)
    for arm, record in zip(outcome.arms, outcome.records, strict=True):
        if record is not None:
            tell(Event("arm", arm, record=record))
    before = {arm.id: earlier(arm) for arm in outcome.missing}
    waiting = {arm.id: (arm, list(plan.needs(arm))) for arm in outcome.missing}
    owner = {place: arm for arm, places in reversed(waiting.values()) for place in places}
    if plan.tasks:
        tell(Event("start", owner[0], total=sum(len(plan.trials(task)) for task in plan.tasks)))
    running = run_tasks(
        plan.train,
        plan.tasks,
        workers,
        lambda place, iteration, loss: tell(
            Event("progress", owner[place], plan.trials(plan.tasks[place])[0], iteration, loss)
        ),
        scheduler=scheduler,
        gpu=plan.gpu,
        say=lambda note: tell(Event("note", owner[0], note=note)),
    )
    ended: dict[int, Result] = {}
    fresh: dict[str, store.Record] = {}
    for place, result in running:
        ended[place] = result
        if (
            isinstance(result, dict) and "status" in result
        ):  # of one trial; a program of many is checked when its arms are finished
            for arm, _ in [pair for pair in waiting.values() if place in pair[1]]:
                _check_grown(arm, result, before[arm.id])
        for trial in plan.trials(plan.tasks[place]):
            tell(Event("trial", owner[place], trial))
        for arm, places in [pair for pair in waiting.values() if place in pair[1] and ended.keys() >= set(pair[1])]:
            fresh[arm.id] = plan.finish(arm, [ended[p] for p in places])
            tell(Event("arm", arm, record=fresh[arm.id]))
    records: list[store.Record | None] = [
        record or fresh[arm.id] for arm, record in zip(outcome.arms, outcome.records, strict=True)
    ]
    return Outcome(outcome.arms, records, outcome.baseline)
