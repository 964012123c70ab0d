"""The ablation: sixteen arms from a params file to records, resumed, reloaded, and its mistakes named."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from actlab import paths
from actlab.data.text import TEXTS
from actlab.data.tokens import write_shard
from actlab.errors import DataError
from actlab.records import store
from actlab.study import trial, trial_ablation
from actlab.study.ablation import AblationParams, arms_of
from actlab.study.run import bring, load, read_params, run
from actlab.study.trial import trained_model
from actlab.study.trial_ablation import fresh_model, shards_of
from actlab.trainers.loop import train_tokens

TINY = {"iterations": 2, "evaluate_every": 1, "batch_size": 2, "vocab_size": 300, "validation_windows": 4}


@pytest.fixture(autouse=True)
def small_text(monkeypatch: pytest.MonkeyPatch):
    """The text is short, and tokenized anew for each test."""
    text = " ".join(f"the {i * 7919 % 997} cats sat on {i % 13} mats" for i in range(400))
    monkeypatch.setitem(TEXTS._built_in, "pydoc", lambda: text)
    trial_ablation._text_shards.cache_clear()
    yield
    trial_ablation._text_shards.cache_clear()


def params(**changes) -> AblationParams:
    return AblationParams.parse({**TINY, **changes})


def values(record: store.Record) -> str:
    """All that training computed; no times, no dates."""
    return json.dumps([[t["status"], t["history"], t["weights_sha256"]] for t in record["trials"]])


def test_the_published_factors_make_sixteen_arms():
    arms = arms_of(params())
    assert len({arm.id for arm in arms}) == 16
    assert arms[0].id.startswith("ecd-symmetric-gelu-")
    assert arms[-1].id.startswith("soap-bQbV-random_prelu-")


def test_published_settings_of_the_124m_file():
    study = read_params(paths.ROOT / "params" / "ablation-124m.yaml")
    assert study.iterations * study.batch_size * 512 == pytest.approx(500e6, rel=1e-4)
    settings = {arm.trials[0].optimizer: arm.config["optimizer_settings"] for arm in arms_of(study)}
    assert settings["ecd"] == {"lr": 1.0, "eta": 100.0, "F0": 2.0, "weight_decay": 0.0}
    assert settings["adamw"] == {"lr": 1e-4, "betas": [0.9, 0.999], "weight_decay": 0.0}
    assert settings["sgdm"]["init_velocity_std"] == 0.1
    assert settings["soap"]["max_precondition_dim"] == 10_000


def test_all_four_optimizers_run_and_are_not_run_again():
    study = params(activations="random_prelu", symmetry="bQbV")
    seen = []
    outcome = run(study, watch=lambda event: seen.append(event.kind))
    assert [r["optimizer"] for r in outcome.present] == ["ecd", "adamw", "sgdm", "soap"]
    assert all(r["trials"][0]["status"] == "done" for r in outcome.present)
    assert seen.count("trial") == seen.count("arm") == 4
    assert not load(study).missing
    again = []
    reloaded = run(study, watch=lambda event: again.append(event.kind))
    assert [values(r) for r in reloaded.present] == [values(r) for r in outcome.present]
    assert again == ["arm"] * 4


def test_trained_again_the_bits_are_the_same():
    study = params(optimizers=("adamw", "sgdm"), symmetry="bQ", activations="gelu")
    one = run(study)
    for file in (paths.cache() / "ablation").glob("*.safetensors"):
        file.unlink()
    two = [trial.run_trial(arm.trials[0]) for arm in arms_of(study)]
    assert [values(record) for record in one.present] == [values({"trials": [t]}) for t in two]


def test_arms_of_one_seed_start_alike_and_see_the_same_batches():
    arms = arms_of(params(optimizers=("adamw", "sgdm"), activations="gelu"))
    starts = [dict(fresh_model(arm.trials[0]).named_parameters()) for arm in arms]
    assert all(start[name].equal(starts[0][name]) for start in starts for name in start)


def test_a_rate_factor_is_a_factor():
    arms = arms_of(params(optimizers="adamw", symmetry="bQ", activations="gelu", rate_factors=(1, 3)))
    assert [arm.trials[0].optimizer_settings["lr"] for arm in arms] == pytest.approx([1e-4, 3e-4])
    assert "-x3-" in arms[1].id


def test_a_trained_model_comes_back():
    study = params(optimizers="adamw", symmetry="bQbV", activations="gelu")
    (record,) = run(study).present
    model = trained_model(arms_of(study)[0].trials[0])
    tokens = torch.zeros(1, 5, dtype=torch.int64)
    assert not model.training
    assert model(tokens).shape == (1, 5, record["provenance"]["data"]["vocab_size"])


def test_a_trial_that_raises_is_shown_and_not_recorded(monkeypatch):
    def broken(*args, **more):
        raise RuntimeError("out of memory")

    study = params(optimizers="adamw", symmetry="bQ", activations="gelu")
    monkeypatch.setattr(trial_ablation, "train_tokens", broken)
    outcome = run(study)
    assert "out of memory" in outcome.failed[0][1]["traceback"]
    assert load(study).missing
    monkeypatch.setattr(trial_ablation, "train_tokens", train_tokens)
    assert not run(study).failed


def test_own_shards_are_checked_against_the_vocabulary(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTLAB_DATA", str(tmp_path))
    for split in ("train", "val"):
        write_shard(tmp_path / "mine" / f"x_{split}_0.bin", np.arange(1000) % 500)
    trial = arms_of(params(shards="mine"))[0].trials[0]
    assert shards_of(trial).vocab_size == 512
    write_shard(tmp_path / "foreign" / "train.bin", [600] * 200)
    write_shard(tmp_path / "foreign" / "val.bin", [1] * 200)
    with pytest.raises(DataError, match="token 600, but the vocabulary has 512"):
        shards_of(arms_of(params(shards="foreign"))[0].trials[0])


def test_a_notebook_loads_or_trains():
    study = params(optimizers="adamw", symmetry="bQ", activations="gelu")
    assert bring(study, train_missing=False).missing
    assert not bring(study, train_missing=True, workers=1).missing


@pytest.mark.slow
def test_workers_give_the_same_bits(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTLAB_DATA", str(tmp_path))
    for split in ("train", "val"):
        write_shard(tmp_path / "mine" / f"x_{split}_0.bin", np.arange(1000) % 500)
    study = params(optimizers=("adamw", "sgdm"), symmetry="bQ", activations="gelu", shards="mine")
    seen = []
    together = run(study, workers=2, watch=lambda event: seen.append(event.kind))
    assert seen.count("trial") == seen.count("arm") == 2
    for file in (paths.cache() / "ablation").glob("*.safetensors"):
        file.unlink()
    alone = [trial.run_trial(arm.trials[0]) for arm in arms_of(study)]
    assert [values(record) for record in together.present] == [values({"trials": [t]}) for t in alone]
