"""A study of any kind from its parameters to its records: what is recorded is loaded, what is cached is reused, the
rest is trained."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import torch

from actlab import paths
from actlab.errors import BadInput
from actlab.records import store
from actlab.study import provenance
from actlab.study.kinds import KINDS, kind_of
from actlab.study.kinds.kind import Kind, Results
from actlab.study.params.language import Params
from actlab.study.params.overrides import overridden
from actlab.study.params.yaml_file import StudyParams, read_mapping
from actlab.study.progress import Event, Watch
from actlab.study.trial import record_of, run_trial
from actlab.study.workers.pool import run_tasks
from actlab.study.write_record import check_growth, earlier, finish, recorded

Tasks = Mapping[Any, Sequence[Any]]
"""Arm -> what has to be trained for it."""


@dataclass(frozen=True)
class StudyRecords:
    """The records of a study by its arms, in their order."""

    found: dict[Any, store.Record | None]
    """``None`` where an arm has none."""

    @property
    def arms(self) -> list[Any]:
        """All of them."""
        return [*self.found]

    @property
    def present(self) -> list[store.Record]:
        """The records that there are."""
        return [record for record in self.found.values() if record is not None]

    @property
    def missing(self) -> list[Any]:
        """The arms without a record."""
        return [arm for arm, record in self.found.items() if record is None]

    @property
    def failed(self) -> list[tuple[Any, dict[str, Any]]]:
        """Arms and those of their trials that raised, with the results that say so."""
        arms = self.found.items()
        return [(arm, t) for arm, record in arms if record for t in record["trials"] if t["status"] == "failed"]


def read_params(path: Path, plugins: Sequence[str] = (), sets: Sequence[str] = (), **changes: Any) -> StudyParams:
    """Checked parameters from a YAML file, of the kind that it names (``repro`` where it is silent).

    Args:
        path: of the file.
        plugins: files beside those that it names.
        sets, changes: of fields, before anything is checked (``overrides.overridden``).

    Raises:
        BadInput: no such file, not a mapping, or a wrong value (the message names the field and what is allowed).
    """
    values, where = overridden(read_mapping(path), plugins, sets, changes), str(path)
    params = KINDS.find(str(values.pop("kind", "repro")), where).params
    if "study" not in values:
        if not values.get("plugins"):  # what else is wrong is said first, but no plug-in runs for it
            params.parse(values, where)
        raise BadInput(f"{path} names no study, the folder of its records below results/: add `study: NAME`")
    return params.parse(values, where)


def load(params: StudyParams) -> StudyRecords:
    """What is recorded of a study; trains nothing."""
    return StudyRecords({arm: recorded(arm) for arm in kind_of(params).plan(params)})


def run(
    params: StudyParams,
    workers: int = 1,
    watch: Watch = lambda event: None,
    scheduler: str = "",
    into_recorded: bool = False,
) -> StudyRecords:
    """Bring a study to its end: arms with a record are loaded, finished trials come from the cache, the rest is
    trained; each arm is recorded as soon as its last trial has ended.

    The arms of a study that chooses learning rates depend on the records of its earlier ones: it runs until none is
    missing.

    Args:
        params: of any kind of study.
        workers: processes, each on one thread; 1 runs in this process, and where there are GPUs, each trains on one of
            them. The results are the same bits.
        watch: called with every ``Event``, in this process.
        scheduler: address of a Dask scheduler whose workers train, in place of processes here (``pool.run_tasks``).
        into_recorded: also add arms to a committed study that its own params file does not plan.

    Raises:
        BadInput: it cannot be trained as asked; nothing was.
    """
    provenance.code()  # before anything can change the files that this process has loaded
    kind, study = kind_of(params), load(params)
    if not scheduler:
        _check_devices({kind.device(arm.trials[0]) for arm in study.missing})
    if study.missing and not into_recorded:
        _check_committed(params.study, study.missing)
    if note := kind.prepare(params, study.missing):
        watch(Event("note", study.missing[0], note=note))
    while True:
        records = dict(study.found)
        needs = kind.tasks(params, study.missing)
        trained = _train(kind, needs, workers, watch, scheduler)
        for arm, record in chain(records.items(), _complete(kind, needs, trained)):
            if record is not None:
                records[arm] = record
                watch(Event("arm", arm, record=record))
        done, study = StudyRecords(records), load(params)
        if done.failed or not study.missing:
            return done if done.failed else study


def _complete(kind: Kind, needs: Tasks, trained: Iterable[tuple[Any, Results]]) -> Iterator[tuple[Any, store.Record]]:
    """Arms and their new records, each when the last task that it needs has been trained."""
    before = {arm: earlier(arm) for arm in needs}
    ended: dict[Any, Results] = {}
    for task, results in trained:
        ended[task] = results
        for arm in [arm for arm in needs if task in needs[arm]]:
            for trial in kind.own(arm, task, results):
                check_growth(arm, trial, before[arm])
            if ended.keys() >= set(needs[arm]):
                trials = [trial for one in dict.fromkeys(needs[arm]) for trial in kind.own(arm, one, ended[one])]
                yield arm, finish(arm, record_of(kind, arm, trials))


def _train(kind: Kind, needs: Tasks, workers: int, tell: Watch, scheduler: str) -> Iterator[tuple[Any, Results]]:
    """Train what the arms need, each task once; tasks and their results as they end."""
    owner = {task: arm for arm in reversed(needs) for task in needs[arm]}
    tasks = list(dict.fromkeys(chain(*needs.values())))
    if not tasks:
        return
    first = owner[tasks[0]]
    there = {task for task in tasks if kind.cached(task).exists()}
    tell(Event("start", first, total=sum(map(kind.size, tasks)), cached=sum(map(kind.size, there))))
    for task, results in run_tasks(
        run_trial,
        tasks,
        workers,
        lambda task, *told: tell(Event("progress", owner[task], task, *told)),
        scheduler=scheduler,
        gpu=any(kind.device(task) != "cpu" for task in tasks),
    ):
        for result in (results, *[None] * (kind.size(task) - 1)):  # an event for each trial of a program
            tell(Event("trial", owner[task], task, result=result, cached=int(task in there)))
        yield task, results


def bring(params: StudyParams, train_missing: bool, workers: int = 0) -> list[store.Record]:
    """A study's records for a notebook: trained where they are missing, or only loaded. ``workers`` = 0 takes one
    process a core.

    Raises:
        BadInput: there is no record of any arm.
    """
    found = run(params, workers or os.cpu_count() or 1) if train_missing else load(params)
    if not found.present:
        raise BadInput(f"results/{params.study} has no record of these settings yet: train_missing=True makes them")
    return found.present


def run_experiment(model: str, activation: str, params: Params | dict[str, Any]) -> store.Record:
    """Train every trial of one arm in this process and return its record; what is done already is not done again.

    Args:
        model: a key of ``MODELS``.
        activation: a key of ``ACTIVATIONS``.
        params: the other settings; ``model``, ``activation``, ``noise_floor`` and ``perturbations`` in it are not
            used.

    Raises:
        BadInput: several arms: more than one of ``varies``, ``scale`` or another setting, or ``tuning``.
    """
    values = params.model_dump() if isinstance(params, Params) else params
    only = {"model": model, "activation": activation, "noise_floor": False, "perturbations": ()}
    settings = Params.parse({**values, **only})
    if len(settings.varies) * len(settings.points) > 1 or len(settings.scale) > 1 or settings.tuning:
        raise BadInput(
            "one experiment is one arm: give one stream in `varies` and a `scale`, or run the study with `actlab run`"
        )
    (record,) = run(settings).present
    return record


def _check_devices(devices: set[str]) -> None:
    """``BadInput`` where one of them is not here."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    absent = [device for device in devices - {"cpu"} if int(device.partition(":")[2] or 0) >= count]
    if absent:
        raise BadInput(
            f"device={absent[0]}: PyTorch {torch.__version__} finds {count or 'no'} GPU here; use device=cpu, or a "
            "machine that has it"
        )


def _check_committed(study: str, missing: Sequence[Any]) -> None:
    """``BadInput`` where arms would join committed records though the study's own params file does not plan them."""
    if paths.results() != paths.ROOT / "results" or not paths.git("ls-files", f"results/{study}/*.json"):
        return
    own = paths.ROOT / "params" / f"{study}.yaml"
    planned = {arm.id for arm in load(read_params(own)).arms} if own.exists() else set()
    if others := [arm.id for arm in missing if arm.id not in planned]:
        more = f" and {len(others) - 1} more" * (len(others) > 1)
        raise BadInput(
            f"results/{study} holds committed records, and params/{own.name} does not plan {others[0]}{more}: "
            "give the study a name of its own (--set study=NAME), or add --into-recorded"
        )
