"""``kill -9``, at any moment, of a worker, of the scheduler, of everything: what is started again ends in the records
of an undisturbed run."""

import os
import random
import signal
import time

import pytest
from faulty import PARAMS, Study, cluster, kill_group, until_gone

pytestmark = pytest.mark.slow

KILLS = 20
SEED = 7


def test_the_whole_run_at_random_moments(server, undisturbed, tmp_path):
    """kill -9 of the whole run, at random moments: started again each time, the records of an undisturbed run; a study
    that is through is compared, and the next one begun."""
    moments = random.Random(SEED)
    since = time.perf_counter()
    server.run(Study(tmp_path / "pace"))
    longest = time.perf_counter() - since
    killed, studies = 0, [Study(tmp_path / "0")]
    while killed < KILLS:
        process = server.start(studies[-1])
        time.sleep(moments.uniform(0, longest))
        kill_group(process)
        server.end(0, -signal.SIGKILL)
        killed += server.code < 0
        if server.code == 0:
            studies.append(Study(tmp_path / str(len(studies))))
    server.run(studies[-1])
    for study in studies:
        if study.diary() or study.place.exists():
            assert study.records() == undisturbed
            assert not study.strays()


def test_at_every_step_of_writing(server, tmp_path):
    """kill -9 before the flush, before the move and after the move of every file that a study writes: no half file; the
    next start ends in the same records."""
    params = {**PARAMS, "activation": ["relu"], "iterations": 3}
    whole = Study(tmp_path / "whole", params)
    server.run(whole)
    expected = whole.records()
    for step in range(1, 1000):
        study = Study(tmp_path / str(step), params)
        server.run(study, codes=(0, -signal.SIGKILL), TINY_DIE_AT=str(step))
        if server.code == 0:
            break
        assert set(study.records()) <= set(expected), "what is there is whole"
        server.mend(study, expected)
    assert step > 15, "two trials of two checkpoints, their results, two records, three steps each"


def test_a_worker_in_mid_trial(server, undisturbed, tmp_path):
    """kill -9 of a worker in mid-trial: replaced; its trial goes on in another process from its checkpoint, with the
    same bits."""
    study = Study(tmp_path)
    server.start(study, "--workers", "2", TINY_PAUSE="0.5")
    worker, trial = study.wait_for_checkpoint(3)
    os.kill(worker, signal.SIGKILL)
    server.end()
    story = [(word, iteration) for word, process, name, iteration in study.diary() if name == trial]
    resumed = next(iteration for word, iteration in story if word == "resumed")
    assert resumed >= 3
    assert story.count(("saved", 0)) == 1, "it was not begun anew"
    assert story[-1] == ("saved", 6)
    processes = {process for word, process, name, _ in study.diary() if name == trial}
    assert len(processes) == 2
    assert study.records() == undisturbed


def test_the_scheduler(server, undisturbed, tmp_path):
    """kill -9 of the Dask scheduler: one sentence and exit code 2; the next start goes on."""
    study = Study(tmp_path)
    preload = {"DASK_DISTRIBUTED__WORKER__PRELOAD": '["tiny_actlab"]'}
    with cluster(tmp_path, study.settings(TINY_PAUSE="0.5", **preload), "--no-nanny") as (address, scheduler):
        server.start(study, "--scheduler", address)
        study.wait_for_checkpoint(3)
        kill_group(scheduler.pid)
        said = server.end(2)
        assert "the scheduler went away" in said
        server.mend(study, undisturbed)
        assert all(count <= 2 for count in study.trained().values())


def test_the_starting_process_alone(server, undisturbed, tmp_path):
    """kill -9 of the process that started two workers: the workers end by themselves; the next start goes on."""
    study = Study(tmp_path)
    starter = server.start(study, "--workers", "2", TINY_PAUSE="0.5")
    study.wait_for_checkpoint(3)
    workers = {process for _, process, _, _ in study.diary()}
    assert starter not in workers
    os.kill(starter, signal.SIGKILL)
    server.end(-signal.SIGKILL)
    assert until_gone(workers, 60)
    server.mend(study, undisturbed)
