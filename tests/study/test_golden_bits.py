"""Golden bits: one short trial of each kind and model, trained again, ends in the committed weights.

A change of code that keeps them keeps the version of training (``provenance.TRAINING``). Where they change for a
reason, raise it, and write the file anew: GOLDEN=write python -m pytest tests/study/test_golden_bits.py
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from actlab.models import MODELS
from actlab.models.gpt2 import GPT2_SCALES
from actlab.study import arms, provenance, trial
from actlab.study.kinds import images
from actlab.study.kinds.ablation import Ablation, AblationParams

FILE = Path(__file__).with_name("golden.yaml")
ACTIVATIONS = ("relu", "gelu", "swiglu", "smelu_1", "swish", "smelu_05")
"""One for each model, so that all six take part."""


def tasks(toy, monkeypatch):
    """Name -> task: six models, an image program and an ablation."""
    monkeypatch.setitem(GPT2_SCALES, "quick", replace(GPT2_SCALES["quick"], block_size=8))
    found = {}
    for model, activation in zip(MODELS.built_in, ACTIVATIONS, strict=True):
        one = toy.replace(model=model, activations=activation, trials=1, noise_floor=False, average=[0.5, 0.9])
        found[f"{model} {activation}"] = arms.arms_of(one)[0].trials[0]
    sweep = images.MnistParams(trials=1, batch_sizes=(64,))
    found["images"] = images.programs_of(sweep)[0]
    small = AblationParams(optimizers=("soap",), iterations=2, evaluate_every=1, batch_size=2, validation_windows=4)
    found["ablation"] = Ablation().plan(small)[0].trials[0]
    return found


def outcome(task):
    """(hash of the weights, or of all numbers where none are kept; the last validation loss)."""
    results = trial.train_afresh(task)[0]
    assert results["status"] == "done", results
    if "trials" not in results:
        return results["weights_sha256"], results["final"]["val_loss"]
    runs = list(results["trials"].values())
    bits = [{name: value for name, value in run.items() if name != "seconds"} for run in runs]
    return trial.store.digest(bits), runs[-1]["val_loss"]


def test_training_makes_the_committed_bits(toy, monkeypatch, subtests):
    """The weights bit for bit where the file knows this processor and PyTorch; the losses to 1e-4 everywhere."""
    here = provenance.machine()
    place = " ".join(str(here[name]) for name in ("generation", "capability", "torch"))
    known = yaml.safe_load(FILE.read_text()) if FILE.exists() else {"losses": {}, "bits": {}}
    found = {name: outcome(task) for name, task in tasks(toy, monkeypatch).items()}
    bits, losses = ({name: each[i] for name, each in found.items()} for i in (0, 1))
    if os.environ.get("GOLDEN") == "write":
        same = known.get("training") == provenance.TRAINING
        written = {**(known["bits"] if same else {}), place: bits}
        content = {"training": provenance.TRAINING, "losses": losses, "bits": written}
        FILE.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        known = content
    assert known["training"] == provenance.TRAINING
    assert losses == pytest.approx(known["losses"], rel=1e-4)
    for name, expected in known["bits"].get(place, {}).items():
        with subtests.test(trial=name):
            assert bits[name] == expected
