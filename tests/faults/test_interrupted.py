"""Ctrl-C, and two runs of one study at once."""

import signal
import time

import pytest
from faulty import PARAMS, Server, Study, kill_group, until_gone

pytestmark = pytest.mark.slow

PATIENCE = 2
"""Seconds from Ctrl-C to the end."""


@pytest.mark.parametrize(("iteration", "workers"), [(3, 1), (3, 2), (0, 1)])
def test_an_interruption(iteration, workers, server, undisturbed, tmp_path):
    """Ctrl-C after a checkpoint, to the whole group of processes, as terminals send it: one sentence and code 130 at
    once, no worker stays behind, and the trial goes on from its checkpoint with the same bits."""
    study = Study(tmp_path)
    started = server.start(study, "--workers", str(workers), TINY_PAUSE="0.5")
    _, trial = study.wait_for_checkpoint(iteration)
    training = {process for _, process, _, _ in study.diary()}
    since = time.perf_counter()
    kill_group(started, signal.SIGINT)
    said = server.end(130)
    took = time.perf_counter() - since
    assert said.splitlines()[-1] == "interrupted; run the same command again to go on"
    assert "leaked" not in said
    assert took < PATIENCE
    assert until_gone(training, 20)
    server.mend(study, undisturbed)
    assert ("resumed", trial, iteration) in [(word, name, at) for word, _, name, at in study.diary()]


def test_two_runs_at_once(server, tmp_path):
    """Two runs of one study at once: each trial is trained once, by one of them; both end well, with one set of
    records."""
    other = Server()
    params = {**PARAMS, "trials": 3}
    alone = Study(tmp_path / "alone", params)
    study = Study(tmp_path / "both", params)
    try:
        server.run(alone)
        other.run(Study(tmp_path / "warm", params))
        server.start(study, TINY_PAUSE="0.05")
        other.start(study, TINY_PAUSE="0.05")
        server.end()
        other.end()
        assert set(study.trained().values()) == {1}
        assert len(study.trained()) == 6
        assert study.records() == alone.records()
        assert not study.strays()
    finally:
        other.close()
