"""A study of language models from its parameters to its records: what is recorded is loaded, what is cached is reused, the rest is trained."""

from __future__ import annotations

import os
from dataclasses import dataclass

from actlab import store
from actlab.study import baselines, provenance
from actlab.study.arms import Arm, TrialSpec, arms_of
from actlab.study.events import Event, Watch
from actlab.study.params import Params
from actlab.study.pool import Report, run_tasks
from actlab.study.run import Results, finish, recorded, run_trial


@dataclass(frozen=True)
class Outcome:
    """The records of a study in the order of its arms; ``None`` where an arm has none."""

    arms: list[Arm]
    records: list[store.Record | None]
    baseline: store.Record | None = None

    @property
    def present(self) -> list[store.Record]:
        """The records that there are."""
        return [record for record in [self.baseline, *self.records] if record is not None]

    @property
    def missing(self) -> list[Arm]:
        """The arms without a record."""
        return [arm for arm, record in zip(self.arms, self.records, strict=True) if record is None]

    @property
    def failed(self) -> list[tuple[Arm, Results]]:
        """Trials that raised."""
        pairs = zip(self.arms, self.records, strict=True)
        return [(arm, t) for arm, record in pairs if record for t in record["trials"] if t["status"] == "failed"]


def load_study(params: Params) -> Outcome:
    """What is recorded of a study; trains nothing."""
    arms = arms_of(params)
    return Outcome(arms, [recorded(arm) for arm in arms], baselines.recorded(params.study, params.dataset))


def bring(params: Params, train_missing: bool, workers: int = 0) -> Outcome:
    """A study for a notebook: trained where records are missing, or only loaded. ``workers`` = 0 takes one process a core."""
    return run_study(params, workers or os.cpu_count() or 1) if train_missing else load_study(params)


def run_study(params: Params, workers: int = 1, watch: Watch | None = None, scheduler: str = "") -> Outcome:
    """Bring a study to its end: arms with a record are loaded, trials in the cache are reused, the rest is trained.

    Args:
        params: the study.
        workers: processes, each on one thread; 1 runs in this process. The results are the same bits.
        watch: called with every ``Event``, in this process.
        scheduler: address of a Dask scheduler whose workers train, in place of processes here (``pool.run_tasks``).
    """
    tell = watch or (lambda event: None)
    provenance.code()  # before anything can change the files that this process has loaded
    baselines.ensure(params.study, params.dataset)
    outcome = load_study(params)
    for arm, record in zip(outcome.arms, outcome.records, strict=True):
        if record is not None:
            tell(Event("arm", arm, record=record))
    todo = [(arm, spec) for arm in outcome.missing for spec in arm.trials]
    if todo:
        tell(Event("start", todo[0][0], total=len(todo)))
    ended: dict[str, list[Results]] = {arm.id: [] for arm in outcome.missing}
    fresh: dict[str, store.Record] = {}
    running = run_tasks(
        _train,
        [spec for _, spec in todo],
        workers,
        lambda place, iteration, loss: tell(Event("progress", *todo[place], iteration, loss)),
        scheduler=scheduler,
        gpu=params.device != "cpu",
        say=lambda note: tell(Event("note", todo[0][0], note=note)),
    )
    for place, results in running:
        arm, spec = todo[place]
        tell(Event("trial", arm, spec))
        ended[arm.id].append(results)
        if len(ended[arm.id]) == len(arm.trials):
            labels = [trial.label for trial in arm.trials]
            fresh[arm.id] = finish(arm, sorted(ended[arm.id], key=lambda results: labels.index(results["label"])))
            tell(Event("arm", arm, record=fresh[arm.id]))
    records: list[store.Record | None] = [record or fresh[arm.id] for arm, record in zip(outcome.arms, outcome.records, strict=True)]
    return Outcome(outcome.arms, records, outcome.baseline)


def _train(spec: TrialSpec, report: Report) -> Results:
    return run_trial(spec, report)
