"""Where trials run: in this process, or in several single-threaded ones. Decides nothing about what they compute."""

from __future__ import annotations

import multiprocessing
import os
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from actlab import store
from actlab.errors import BadInput
from actlab.study import baselines, provenance
from actlab.study.arms import Arm, TrialSpec, arms_of
from actlab.study.params import Params
from actlab.study.run import Results, finish, recorded, run_trial


@dataclass(frozen=True)
class Event:
    """Something that a display may show."""

    kind: Literal["start", "arm", "progress", "trial"]
    arm: Arm
    trial: TrialSpec | None = None
    iteration: int = 0
    loss: float = float("nan")
    record: store.Record | None = None
    total: int = 0
    """With ``start``: how many trials are to be trained or taken from the cache."""


Watch = Callable[[Event], None]


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


def run_study(params: Params, workers: int = 1, watch: Watch | None = None) -> Outcome:
    """Bring a study to its end: arms with a record are loaded, trials in the cache are reused, the rest is trained.

    Args:
        params: the study.
        workers: processes, each on one thread; 1 runs in this process. The results are the same bits.
        watch: called with every ``Event``, in this process.
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
    run = _in_this_process if workers == 1 else _in_processes
    for arm, spec, results in run(todo, workers, tell):
        tell(Event("trial", arm, spec))
        ended[arm.id].append(results)
        if len(ended[arm.id]) == len(arm.trials):
            place = [trial.label for trial in arm.trials].index
            fresh[arm.id] = finish(arm, sorted(ended[arm.id], key=lambda r: place(r["label"])))
            tell(Event("arm", arm, record=fresh[arm.id]))
    records: list[store.Record | None] = [record or fresh[arm.id] for arm, record in zip(outcome.arms, outcome.records, strict=True)]
    return Outcome(outcome.arms, records, outcome.baseline)


Todo = list[tuple[Arm, TrialSpec]]


def _in_this_process(todo: Todo, workers: int, tell: Watch) -> Iterator[tuple[Arm, TrialSpec, Results]]:
    def reporter(arm: Arm, spec: TrialSpec) -> Callable[[int, float], None]:
        return lambda iteration, loss: tell(Event("progress", arm, spec, iteration, loss))

    for arm, spec in todo:
        yield arm, spec, run_trial(spec, reporter(arm, spec))


_reports: Any = None
_code: object = None


def _start(reports: Any, code: object) -> None:
    global _reports, _code
    _reports, _code = reports, code


def _report_and_run(index: int, spec: TrialSpec) -> Results:
    if provenance.code()["trial_code_sha256"] != _code:
        raise BadInput("the files in lib/actlab changed while the study was starting; start it again")
    return run_trial(spec, lambda iteration, loss: _reports.put((index, iteration, loss)))


def _in_processes(todo: Todo, workers: int, tell: Watch) -> Iterator[tuple[Arm, TrialSpec, Results]]:
    context = multiprocessing.get_context("spawn")
    reports = context.Queue()
    with _pool(workers, context, reports) as pool:
        waiting: dict[Future[Results], int] = {pool.submit(_report_and_run, i, spec): i for i, (_, spec) in enumerate(todo)}
        while waiting:
            done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            for index, iteration, loss in _drain(reports):
                tell(Event("progress", *todo[index], iteration, loss))
            for future in done:
                yield *todo[waiting.pop(future)], future.result()


@contextmanager
def _pool(workers: int, context: Any, reports: Any) -> Iterator[ProcessPoolExecutor]:
    """A process pool that an interruption ends at once: the trials' checkpoints make that safe."""
    pool = ProcessPoolExecutor(workers, context, _start, (reports, provenance.code()["trial_code_sha256"]))
    try:
        yield pool
    except BaseException:
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _drain(reports: Any) -> Iterator[tuple[int, int, float]]:
    while True:
        try:
            yield reports.get_nowait()
        except queue.Empty:
            return
