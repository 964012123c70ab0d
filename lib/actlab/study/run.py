"""A study of any kind from its parameters to its records: what is recorded is loaded, what is cached is reused, the
rest is trained."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from timeit import repeat
from typing import Any

import torch

from actlab import paths
from actlab.errors import BadInput, UnknownName
from actlab.records import store
from actlab.study import arms, baselines, provenance
from actlab.study.kinds.characters import fresh_model
from actlab.study.kinds.images import Program, key
from actlab.study.measure import Results
from actlab.study.params import Params, StudyParams, read_mapping
from actlab.study.pool import run_tasks
from actlab.study.progress import Event, Watch
from actlab.study.record import check_growth, earlier, finish, recorded
from actlab.study.trial import KINDS, cached, kind_of, record_of, run_trial
from actlab.trainers import setup


@dataclass(frozen=True)
class StudyRecords:
    """The records of a study in the order of its arms; ``None`` where an arm has none."""

    arms: list[Any]
    records: list[store.Record | None]
    baseline: store.Record | None = None
    """What the text gives away without a network, for language models."""

    @property
    def present(self) -> list[store.Record]:
        """The records that there are."""
        return [record for record in [self.baseline, *self.records] if record is not None]

    @property
    def missing(self) -> list[Any]:
        """The arms without a record."""
        return [arm for arm, record in zip(self.arms, self.records, strict=True) if record is None]

    @property
    def failed(self) -> list[tuple[Any, dict[str, Any]]]:
        """Arms and those of their trials that raised, with the results that say so."""
        pairs = zip(self.arms, self.records, strict=True)
        return [(arm, t) for arm, record in pairs if record for t in record["trials"] if t["status"] == "failed"]


def read_params(path: Path, own: Sequence[str] = ()) -> StudyParams:
    """Checked parameters from a YAML file, of the kind that it names (``repro`` where it is silent); ``own``: plug-in
    files beside those that it names.

    Raises:
        BadInput: no such file, not a mapping, or a wrong value (the message names the field and what is allowed).
    """
    values = read_mapping(path)
    kind = values.get("kind", "repro")
    if not isinstance(kind, str) or kind not in KINDS:
        raise UnknownName("kind", kind, KINDS, str(path))
    nameless = "study" not in values
    if nameless and not (own or values.get("plugins")):  # what else is wrong is said first, but no plug-in runs for it
        KINDS[kind].OWN[0].load(path)
    if nameless:
        raise BadInput(f"{path} names no study, the folder of its records below results/: add `study: NAME`")
    params: StudyParams = KINDS[kind].OWN[0].load(path, own)
    return params


def load(params: StudyParams) -> StudyRecords:
    """What is recorded of a study; trains nothing."""
    planned = kind_of(params).arms_of(params)
    baseline = baselines.recorded(params.study, params.dataset) if isinstance(params, Params) else None
    return StudyRecords(planned, [recorded(arm) for arm in planned], baseline)


def run(
    params: StudyParams,
    workers: int = 1,
    watch: Watch | None = None,
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
    tell = watch or (lambda event: None)
    if missing := load(params).missing:
        _check_devices(missing, scheduler)
        if not into_recorded:
            _check_committed(params.study, missing)
        if isinstance(params, Params):
            _check_bfloat16(missing, tell)
    if isinstance(params, Params):
        baselines.ensure(params.study, params.dataset, params.train_fraction, params.validation, params.train_share)
    while True:
        outcome, planned = _train_missing(params, workers, tell, scheduler), load(params)
        if outcome.failed or not planned.missing:
            return outcome if outcome.failed else planned


def _train_missing(params: StudyParams, workers: int, tell: Watch, scheduler: str) -> StudyRecords:
    kind, outcome = kind_of(params), load(params)
    missing = outcome.missing
    before = {arm: earlier(arm) for arm in missing}
    needs = {arm: kind.tasks_of(params, arm) for arm in missing}
    tasks = sorted(dict.fromkeys(chain(*needs.values())), key=_duration, reverse=True)
    owner = {task: arm for arm in reversed(missing) for task in needs[arm]}
    records = dict(zip(outcome.arms, outcome.records, strict=True))
    for arm, record in records.items():
        if record is not None:
            tell(Event("arm", arm, record=record))
    if tasks:
        there = sum(_size(task) for task in tasks if cached(task).exists())
        tell(Event("start", missing[0], total=sum(map(_size, tasks)), cached=there))
    ended: dict[Any, Results] = {}
    for task, result in run_tasks(
        run_trial,
        tasks,
        workers,
        lambda task, iteration, loss: tell(Event("progress", owner[task], task, iteration, loss)),
        scheduler=scheduler,
        gpu=bool(_gpus(missing)),
        say=lambda note: tell(Event("note", missing[0], note=note)),
    ):
        ended[task] = result
        for _ in range(_size(task)):
            tell(Event("trial", owner[task], task, result=None if isinstance(task, Program) else result))
        for arm in [arm for arm in missing if task in needs[arm]]:
            for own in _shares(arm, task, result):
                check_growth(arm, own, before[arm])
            if ended.keys() >= set(needs[arm]):
                results = [own for each in dict.fromkeys(needs[arm]) for own in _shares(arm, each, ended[each])]
                records[arm] = finish(arm, record_of(arm, results))
                tell(Event("arm", arm, record=records[arm]))
    return StudyRecords(outcome.arms, list(records.values()), outcome.baseline)


def _size(task: Any) -> int:
    """How many trials a task trains."""
    return len(task.cells) * len(task.learning_rates) * len(task.seeds) if isinstance(task, Program) else 1


def _duration(task: Any) -> float:
    """Programs that last longer are started first."""
    return task.epochs / task.batch_size if isinstance(task, Program) else 0


def _shares(arm: Any, task: Any, result: Results) -> list[Results]:
    """The arm's own trials in what a task left: a program's are those of many arms and several seeds."""
    if not isinstance(task, Program):
        return [result]
    if result["status"] == "failed":
        return [{**result, "label": str(seed), "seed": seed} for seed in task.seeds]
    return [result["trials"][key(arm.network, arm.hidden, arm.learning_rate, seed)] for seed in task.seeds]


def bring(params: StudyParams, train_missing: bool, workers: int = 0) -> list[store.Record]:
    """A study's records for a notebook: trained where they are missing, or only loaded. ``workers`` = 0 takes one
    process a core.

    Raises:
        BadInput: there is no record of any arm.
    """
    found = run(params, workers or os.cpu_count() or 1) if train_missing else load(params)
    if not any(found.records):
        raise BadInput(f"results/{params.study} has no record of these settings yet: train_missing=True makes them")
    return found.present


def run_experiment(model: str, activation: str, params: Params | dict[str, Any]) -> store.Record:
    """Train every trial of one arm in this process and return its record; what is done already is not done again.

    Args:
        model: a key of ``MODELS``.
        activation: a key of ``ACTIVATIONS``.
        params: the other settings; ``model`` and ``activations`` in it are not used, nor those that make further arms.
    """
    values = params.model_dump() if isinstance(params, Params) else params
    only = {"model": model, "activations": activation, "noise_floor": False, "perturbations": ()}
    settings = Params.parse({**values, **only})
    if len(settings.varies) > 1 or settings.scales or settings.tuning:
        raise BadInput(
            "one experiment is one arm: give one stream in `varies` and a `scale`, or run the study with `actlab run`"
        )
    (record,) = run(settings).present[1:]  # after the baseline
    return record


def _gpus(missing: Sequence[Any]) -> set[str]:
    """On which these arms train."""
    return {arm.trials[0].recipe.device for arm in missing if hasattr(arm, "trials")} - {"cpu"}


def _check_devices(missing: Sequence[Any], scheduler: str) -> None:
    """``BadInput`` where arms train on a device that is not here."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    absent = [device for device in _gpus(missing) if int(device.partition(":")[2] or 0) >= count]
    if absent and not scheduler:
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


def _check_bfloat16(missing: Sequence[arms.Arm], tell: Watch) -> None:
    """Refuse, or announce, what bfloat16 means on this processor, before anything is trained."""
    trials = {arm.model: arm.trials[0] for arm in missing}.values()
    slow = [spec for spec in trials if (spec.recipe.dtype, spec.recipe.device) == ("bfloat16", "cpu")]
    if slow and (note := setup.check_bfloat16(map(fresh_model, slow)) or _slower_in_bfloat16()):
        tell(Event("note", missing[0], note=note))


def _slower_in_bfloat16() -> str:
    """What to say where a matrix product takes longer in bfloat16 than in float32, as on some processors that have the
    instructions; empty elsewhere."""

    def seconds(x: torch.Tensor) -> float:
        return min(repeat(lambda: x @ x, number=1, repeat=5))

    ratio = seconds((x := torch.ones(512, 512)).bfloat16()) / seconds(x)
    said = f"a matrix product takes {ratio:.1f} times as long in bfloat16 as in float32 on this processor"
    return f"{said}: training in bfloat16 will be slower here" if ratio > 1 else ""
