"""Where tasks run changes no result: this process, processes, a Dask cluster; what a worker's death leaves is
finished."""

import os
import signal
import time

import pytest
from faulty import cluster

from actlab.errors import BadInput
from actlab.study.workers import pool
from actlab.study.workers.pool import EngineError, run_tasks


def square(task, report):
    report(1, float(task))
    return task**2, os.getpid()


def test_one_worker_is_this_process():
    """No Dask: results in order, reports at once."""
    heard = []
    found = list(run_tasks(square, [3, 4], 1, lambda *report: heard.append(report)))
    assert found == [(3, (9, os.getpid())), (4, (16, os.getpid()))]
    assert heard == [(3, 1, 3.0), (4, 1, 4.0)]


def setting(task, report):
    return os.environ.get(task)


@pytest.mark.slow
def test_settings_reach_workers_as_they_are_now(monkeypatch):
    """Folders may be moved after the first workers: the process that they are forked from has no say."""
    for folder in ("first", "second"):
        monkeypatch.setenv("ACTLAB_CACHE", folder)
        found = dict(run_tasks(setting, ["ACTLAB_CACHE", "OMP_NUM_THREADS"], 2))
        assert found == {"ACTLAB_CACHE": folder, "OMP_NUM_THREADS": "1"}
    monkeypatch.delenv("ACTLAB_CACHE")
    assert list(run_tasks(setting, ["ACTLAB_CACHE"] * 2, 2)) == [("ACTLAB_CACHE", None)] * 2


def leave_always(task, report):
    time.sleep(0.5 if task == "bad" else 0.02)  # the task beside it ends first
    if task == "bad":
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


@pytest.mark.slow
def test_a_task_that_kills_its_process_is_given_up():
    """The other tasks end; then a sentence says what to try."""
    ended = []
    with pytest.raises(EngineError, match=r"killed again and again .*fewer workers"):
        ended.extend(task for task, _ in run_tasks(leave_always, [*range(8), "bad"], 2))
    assert sorted(ended) == [*range(8)]


@pytest.mark.slow
def test_a_cluster_by_its_address(tmp_path):
    """The same results through any Dask scheduler, from another process, and reports come home; tasks may ask for a
    GPU."""
    heard = []
    with cluster(tmp_path, {}, "--resources", "GPU=1") as (address, _):
        run = run_tasks(square, [5, 6], on_report=lambda *report: heard.append(report), scheduler=address, gpu=True)
        found = dict(run)
    assert [found[task][0] for task in (5, 6)] == [25, 36]
    assert os.getpid() not in {process for _, process in found.values()}
    assert sorted(heard) == [(5, 1, 5.0), (6, 1, 6.0)]


@pytest.mark.slow
def test_a_worker_of_a_cluster_with_threads_is_refused(tmp_path):
    """Trials in threads would share their random numbers."""
    with (
        cluster(tmp_path, {}, "--nthreads", "2") as (address, _),
        pytest.raises(BadInput, match=r"runs 2 tasks in threads.*--nthreads 1"),
    ):
        list(run_tasks(square, [5, 6], scheduler=address))


def test_no_scheduler_is_said(monkeypatch):
    monkeypatch.setattr(pool, "CONNECT", 1)
    with pytest.raises(EngineError, match=r"no Dask scheduler answers at 'tcp://127.0.0.1:9'.*tcp://host:8786"):
        list(run_tasks(square, [1], scheduler="tcp://127.0.0.1:9"))
