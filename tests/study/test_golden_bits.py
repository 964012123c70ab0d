"""Golden bits: one short trial of each kind and model, trained again, ends in the committed weights.

A change of code that keeps them keeps the version of training (``cache.TRAINING``). Where they change for a
reason, raise it, and write the file anew: GOLDEN=write python -m pytest tests/study/test_golden_bits.py
"""

import os
from pathlib import Path

import pytest
import tiny
import yaml

from actlab.records import store
from actlab.study import cache
from actlab.study.cache import train_afresh

FILE = Path(__file__).with_name("golden.yaml")


def outcome(task):
    """(hash of the weights, or of all numbers where none are kept; the last validation loss)."""
    runs = [results for results, _ in train_afresh(task)]
    if task.first.kind == "mnist":  # the committed hash is of this order
        networks = list(dict.fromkeys(trial.network for trial in task.trials))
        places = [(t.hidden, networks.index(t.network), -t.learning_rate, t.seed) for t in task.trials]
        runs = [run for _, run in sorted(zip(places, runs, strict=True), key=lambda each: each[0])]
    assert {run["status"] for run in runs} == {"done"}, runs
    if "final" in (last := runs[-1]):
        return last["weights_sha256"], last["final"]["val_loss"]
    bits = [{name: value for name, value in run.items() if name != "seconds"} for run in runs]
    return store.digest(bits), last["val_loss"]


def test_training_makes_the_committed_bits(toy, monkeypatch, subtests):
    """The weights bit for bit where the file knows this processor and PyTorch; the losses to 1e-4 everywhere."""
    here = cache.machine()
    place = " ".join(str(here[name]) for name in ("generation", "capability", "torch"))
    known = yaml.safe_load(FILE.read_text()) if FILE.exists() else {"losses": {}, "bits": {}}
    tasks = tiny.tasks(toy, monkeypatch).items()
    found = {name: outcome(task) for name, task in tasks if name != "as published"}
    bits, losses = ({name: each[i] for name, each in found.items()} for i in (0, 1))
    if os.environ.get("GOLDEN") == "write":
        same = known.get("training") == cache.TRAINING
        written = {**(known["bits"] if same else {}), place: bits}
        content = {"training": cache.TRAINING, "losses": losses, "bits": written}
        FILE.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        known = content
    assert known["training"] == cache.TRAINING
    assert losses == pytest.approx(known["losses"], rel=1e-4)
    for name, expected in known["bits"].get(place, {}).items():
        with subtests.test(trial=name):
            assert bits[name] == expected
