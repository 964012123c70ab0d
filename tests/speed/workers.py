"""How the pool scales: the same trials in this process, on one Dask worker and on two, in turns; and what Dask costs a
trial.

Wall-clock seconds, so for an idle machine only: the record keeps the load that was there before.
"""

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from tests.speed.peers import RECIPE, Setting

from actlab.study import pool
from actlab.study.pool import run_tasks
from actlab.trainers import process
from actlab.trainers.loop import train
from actlab.trainers.windows import spread

WORKERS = (1, 2)


@dataclass(frozen=True)
class Work:
    """A trial of so many iterations, or none; and reports without training."""

    setting: Setting = field(default_factory=partial(Setting, steps=0))
    reports: int = 0


def work(task, report):
    """Do it, in whatever process; CPU seconds."""
    since = time.process_time()
    if task.setting.steps:
        process.prepare()
        model, corpus = task.setting.start()
        one = spread(corpus.validation, model.config.block_size, 1)
        recipe = replace(RECIPE, iterations=task.setting.steps, evaluate_every=task.setting.steps)
        train(model, corpus.train, one, one, recipe, 0, on_progress=report)
    usual, pool.REPORTS_EVERY = pool.REPORTS_EVERY, 0.0  # so that every one of these travels
    for i in range(task.reports):
        report(i, 0.0)
    pool.REPORTS_EVERY = usual
    return time.process_time() - since


def measure_all(steps=16, rounds=4, trials=2, empty=200, **setting):
    """Seconds a round of ``trials`` trials a process; start-up; empty tasks; reports. Every number of a round is
    wall-clock time of ``run_tasks``."""
    task = Work(Setting(steps=steps, **setting))
    load = os.getloadavg()[0]
    with ExitStack() as stack:
        addresses, startup = {}, {}
        for workers in WORKERS:
            since = time.perf_counter()
            addresses[workers] = stack.enter_context(pool.local(workers)).scheduler.address
            _run([Work()] * workers, addresses[workers])
            startup[str(workers)] = time.perf_counter() - since
        ways = {
            "in this process": ("", 1),
            **{f"Dask, {n}": (addresses[n], n) for n in WORKERS},
        }
        for address, workers in ways.values():
            _run([task] * workers, address)  # data and libraries are loaded once a process
        samples = {name: [] for name in ways}
        for _ in range(rounds):
            for name, (address, workers) in ways.items():
                samples[name].append(_run([task] * (trials * workers), address))
        one = addresses[1]
        connecting = _median(lambda: _run([Work()], one))
        tasks = _median(lambda: _run([Work()] * (empty + 1), one)) - connecting
        reports = _median(lambda: _run([Work(reports=5 * empty)], one)) - connecting
    return {
        "load_before": load,
        "cores": os.cpu_count(),
        "steps": steps,
        "model": task.setting.model,
        "scale": task.setting.scale,
        "trials": {name: trials * workers for name, (_, workers) in ways.items()},
        "seconds": samples,
        "startup_seconds": startup,
        "connecting_seconds": connecting,
        "task_seconds": tasks / empty,
        "report_seconds": reports / (5 * empty),
        "reports_every": pool.REPORTS_EVERY,
    }


def _run(tasks, address):
    since = time.perf_counter()
    for _ in run_tasks(work, tasks, scheduler=address):
        pass
    return time.perf_counter() - since


def _median(measure):
    return float(np.median([measure() for _ in range(3)]))
