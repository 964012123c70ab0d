"""On a GPU: the six models train as on the CPU up to rounding, in full float32; a seed gives the same bits again, also
resumed and on several workers."""

import pytest
import tiny
import torch
from torch import nn

from actlab.models import MODELS
from actlab.study.cache import train_afresh
from actlab.study.characters.study import CharacterStudy
from actlab.study.run import run
from actlab.trainers import setup

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
STUDY = CharacterStudy.parse(
    {"activation": ["swiglu"], "trials": 2, "device": "cuda", "iterations": 20, "evaluate_every": 10}
)


def trial_of(model, **changes):
    """The first trial of a small study of one model."""
    return STUDY.replace(model=model, **changes).arms()[0].trials[0]


@pytest.mark.parametrize("model", list(MODELS))
def test_a_trial_has_the_bits_of_its_repetition_and_the_losses_of_the_cpu(model):
    """Without dropout, whose streams differ between devices, rounding alone is between the two."""
    spec = trial_of(model)
    (one, _), (two, _) = tiny.afresh(spec), tiny.afresh(spec)
    assert one["status"] == "done", one
    assert one["weights_sha256"] == two["weights_sha256"]
    there, _ = tiny.afresh(spec.model_copy(update={"device": "cpu"}))
    assert one["history"][0]["val_loss"] == pytest.approx(there["history"][0]["val_loss"], abs=1e-5)
    assert one["final"]["val_loss"] == pytest.approx(there["final"]["val_loss"], abs=0.1)


@pytest.mark.parametrize("kind", [lambda: nn.Conv1d(64, 64, 5), lambda: nn.LSTM(64, 64), lambda: nn.Linear(64, 64)])
def test_float32_is_float32(kind):
    """Against float64 on the CPU: TF32 would be wrong in the fourth digit; an LSTM's own tanh in the sixth."""
    setup.full_float32()
    part, x = kind(), torch.randn(64, 64, 64)

    def output(part, x):
        found = part(x)
        return (found[0] if isinstance(found, tuple) else found).detach().cpu().double()

    exact = output(part.double(), x.double())
    here = output(part.float().cuda(), x.cuda())
    assert (here - exact).norm() / exact.norm() < 2e-5


@pytest.mark.parametrize("model", ["charlm", "tinylstm"])
def test_a_resumed_trial_has_the_bits_of_an_uninterrupted_one(model, tmp_path):
    """Dropout's stream on the GPU goes on where it was."""
    spec, place = trial_of(model), tmp_path / "trial.safetensors"

    def stop(iteration, loss):
        if iteration > 12:
            raise KeyboardInterrupt

    slow = spec.model_copy(update={"iterations": 2000, "evaluate_every": 10})
    with pytest.raises(KeyboardInterrupt):
        train_afresh(tiny.task(slow), stop, place)
    assert place.with_suffix(".checkpoint").exists()
    short = spec.model_copy(update={"iterations": 40, "evaluate_every": 10})
    ((resumed, _),) = train_afresh(tiny.task(short), None, place)
    assert resumed["weights_sha256"] == tiny.afresh(short)[0]["weights_sha256"]


def test_workers_share_the_gpu_and_change_no_bit(monkeypatch, tmp_path):
    """One process and two."""
    params = STUDY.replace(model=["convlm"], activation=["relu", "gelu"], noise_floor=False)

    def hashes(workers):
        monkeypatch.setenv("ACTLAB_CACHE", str(tmp_path / f"cache{workers}"))
        monkeypatch.setenv("ACTLAB_RESULTS", str(tmp_path / f"results{workers}"))
        return [[t["weights_sha256"] for t in record["trials"]] for record in run(params, workers).present]

    assert hashes(1) == hashes(2)
