"""The sweep of image classifiers: arms, records, cache, interruption, and known answers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from actlab import paths
from actlab.data.images import load_images
from actlab.records import store
from actlab.study import trial_mnist
from actlab.study.mnist import MnistParams, Program, arms_of, networks, programs_of
from actlab.study.run import load, read_params, run
from actlab.study.trial_mnist import network_of
from actlab.trainers.stacked import batches
from actlab.trainers.streams import generator

TINY = {"study": "tiny", "hidden": [2, 4], "learning_rates": [1e-1, 1e-3], "batch_sizes": [64], "trials": 2}


def tiny(**changes: Any) -> MnistParams:
    return MnistParams.parse({**TINY, **changes})


def told(record: store.Record) -> dict[str, Any]:
    """A record without what may differ from run to run: times, and the checksum that covers them."""
    trials = [{key: value for key, value in trial.items() if key != "seconds"} for trial in record["trials"]]
    provenance = {key: value for key, value in record["provenance"].items() if key != "date"}
    kept = {key: value for key, value in record.items() if key != "checksum"}
    return json.loads(json.dumps({**kept, "trials": trials, "provenance": provenance}))


def test_params_files_make_the_published_factorial() -> None:
    params = read_params(paths.ROOT / "params" / "mnist.yaml")
    assert isinstance(params, MnistParams)
    arms, programs = arms_of(params), programs_of(params)
    assert len(arms) == 3 * 4 * 4 * 2
    assert sum(len(arm.seeds) for arm in arms) == 960 == sum(len(p.cells) * len(p.learning_rates) for p in programs)
    assert len({arm.id for arm in arms}) == len(arms)
    assert len(programs) == 20


def test_epochs_are_a_factor() -> None:
    """Several numbers of epochs make arms and programs of their own; one epoch keeps its published name."""
    once, both = tiny(), tiny(epochs=[1, 3])
    assert {arm.id for arm in arms_of(once)} < {arm.id for arm in arms_of(both)}
    assert sum("-e3-" in arm.id for arm in arms_of(both)) == len(arms_of(once))
    assert [p.epochs for p in programs_of(both)] == [3, 3, 1, 1]
    assert {"relu", "swish", "geglu_equal_width", "swiglu_equal_parameters"} <= set(networks())


def test_one_record_an_arm_with_a_trial_a_seed() -> None:
    outcome = run(tiny())
    assert not outcome.missing
    assert not outcome.failed
    for arm, record in zip(outcome.arms, outcome.records, strict=True):
        assert record is not None
        assert told(record) == told(store.load(store.path_of("tiny", arm.id)))
        assert [trial["seed"] for trial in record["trials"]] == [42, 43]
        assert record["avg_val_accuracy"] == pytest.approx(sum(t["val_accuracy"] for t in record["trials"]) / 2)
        assert record["config"]["hidden"] == arm.hidden
        assert {"train", "validation", "test"} <= set(record["provenance"]["data"])


@pytest.mark.slow
def test_another_number_of_processes_gives_the_same_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(tiny())
    monkeypatch.setenv("ACTLAB_RESULTS", str(tmp_path / "again"))
    monkeypatch.setenv("ACTLAB_CACHE", str(tmp_path / "again-cache"))
    assert list(map(told, run(tiny(), workers=2).present)) == list(map(told, first.present))


def test_a_finished_study_trains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(tiny(trials=1))
    monkeypatch.setattr("actlab.study.trial_mnist.train_trial", None)
    again = run(tiny(trials=1))
    assert list(map(told, again.present)) == list(map(told, first.present))
    assert load(tiny(trials=1)).missing == []
    assert len(load(tiny(trials=2)).missing) == len(first.arms)


def test_events_are_told() -> None:
    events: list[Any] = []
    run(tiny(trials=1), watch=events.append)
    kinds_told = [event.kind for event in events]
    assert events[0].total == kinds_told.count("trial") == 12
    assert kinds_told.count("arm") == 12


def train_program(one: Program) -> Any:
    return trial_mnist.train_trial(one)[0]["trials"]


def program(**changes: Any) -> Program:
    return programs_of(tiny(**changes))[0]


def test_equal_parameters_is_half_the_equal_width() -> None:
    """One shape is one training: the same bits under both names."""
    trials = train_program(program(arms=["geglu_equal_width", "geglu_equal_parameters"], learning_rates=[1e-2]))
    assert trials["geglu_equal_parameters/4/0.01"] == trials["geglu_equal_width/2/0.01"]


def test_a_trial_does_not_depend_on_the_other_arms() -> None:
    alone = train_program(program(arms=["relu"], hidden=[4], learning_rates=[1e-3]))["relu/4/0.001"]
    among = train_program(program())["relu/4/0.001"]
    assert {k: v for k, v in alone.items() if k != "seconds"} == {k: v for k, v in among.items() if k != "seconds"}


def test_an_absurd_rate_is_recorded_as_diverged() -> None:
    trials = train_program(program(arms=["relu"], hidden=[4], learning_rates=[1e38, 1e-3]))
    assert trials["relu/4/1e+38"]["status"] == "diverged"
    assert trials["relu/4/1e+38"]["val_accuracy"] != trials["relu/4/1e+38"]["val_accuracy"]
    assert trials["relu/4/0.001"]["status"] == "done"


def test_protocols_differ_in_what_selects() -> None:
    trials = train_program(program(protocol="as_published", arms=["relu"], learning_rates=[1e-2]))
    assert all(trial["val_accuracy"] == trial["test_accuracy"] for trial in trials.values())


SCRIPT = """
import json, sys
from actlab.study.mnist import MnistParams
from actlab.study.run import run
if __name__ == "__main__":
    run(MnistParams.parse(json.loads(sys.argv[1])), int(sys.argv[2]))
"""


@pytest.mark.slow
def test_killed_and_started_again_gives_the_same_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``kill -9`` after the first finished program; the second run trains only the rest."""
    values = {**TINY, "batch_sizes": [8], "trials": 8}
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(Path(store.__file__).parents[1])}
    process = subprocess.Popen([sys.executable, str(script), json.dumps(values), "1"], env=environment)
    programs = paths.cache() / "programs"
    while not list(programs.glob("*.safetensors")):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    finished = {path: path.read_bytes() for path in programs.glob("b*.safetensors")}
    assert 0 < len(finished) < 8
    resumed = run(MnistParams.parse(values))
    assert all(path.read_bytes() == content for path, content in finished.items())
    monkeypatch.setenv("ACTLAB_RESULTS", str(tmp_path / "whole"))
    monkeypatch.setenv("ACTLAB_CACHE", str(tmp_path / "whole-cache"))
    assert list(map(told, resumed.present)) == list(map(told, run(MnistParams.parse(values)).present))


def plain_loop(program: Program, hidden: int, rate: float) -> float:
    """Validation accuracy (%) of one ReLU network by the plain loop: autograd and ``torch.optim.Adam``."""
    images = load_images(program.dataset)
    net = network_of(program, "relu", hidden)
    optimizer = torch.optim.Adam(net.parameters(), lr=rate, fused=True)
    for places in batches(len(images.train), program.batch_size, 1, generator(program.seed, "order")):
        optimizer.zero_grad()
        F.cross_entropy(net(images.train.pixels[places]), images.train.labels[places]).backward()
        optimizer.step()
    return 100 * (net(images.validation.pixels).argmax(1) == images.validation.labels).double().mean().item()


@pytest.mark.data("mnist")
def test_known_answers_on_mnist() -> None:
    """Hidden 8, batch 64, rate 1e-3, one epoch: the plain loop's range over seeds; and the collapse at rate 1e-1 is
    reported as what it is."""
    settings = {
        "dataset": "mnist",
        "arms": ["relu", "geglu_equal_width"],
        "hidden": [2, 8],
        "learning_rates": [1e-1, 1e-3],
    }
    ours = [train_program(p) for p in programs_of(tiny(**settings))]
    plain = [plain_loop(p, 8, 1e-3) for p in programs_of(tiny(**settings, trials=3))]
    for trials in ours:
        assert min(plain) - 0.5 <= trials["relu/8/0.001"]["val_accuracy"] <= max(plain) + 0.5
        assert 86 < trials["relu/8/0.001"]["val_accuracy"] < 93
        lost = trials["geglu_equal_width/2/0.1"]
        assert lost["val_largest_class_share"] > 0.5
        assert lost["val_accuracy"] < 25
