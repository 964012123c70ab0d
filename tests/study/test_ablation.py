"""The ablation: sixteen arms from a params file to records, its shards, its models, and workers."""

import json

import numpy as np
import pytest
import tiny
import torch

from actlab.data.tokens import write_shard
from actlab.errors import DataError
from actlab.records import store
from actlab.study.ablation import AblationParams, arms_of
from actlab.study.run import bring, run
from actlab.study.trial import trained_model
from actlab.study.trial_ablation import shards_of

pytestmark = pytest.mark.usefixtures("cats")


@pytest.fixture
def own_shards(monkeypatch, tmp_path):
    """A data folder with a user's shards in `mine`."""
    monkeypatch.setenv("ACTLAB_DATA", str(tmp_path))
    for split in ("train", "val"):
        write_shard(tmp_path / "mine" / f"x_{split}_0.bin", np.arange(1000) % 500)
    return tmp_path


def params(**changes):
    return AblationParams.parse({**tiny.ABLATION, **changes})


def values(trials):
    """All that training computed; no times, no dates."""
    return json.dumps([[t["status"], t["history"], t["weights_sha256"]] for t in trials])


def test_all_four_optimizers_run_as_a_notebook_asks_for_them():
    """Loaded only, nothing is trained; trained, each arm is recorded, not run again, and its model comes back."""
    study, seen = params(activations="random_prelu", symmetry="bQbV"), []
    assert len(bring(study, train_missing=False).missing) == 4
    records = bring(study, train_missing=True, workers=1).present
    assert [r["optimizer"] for r in records] == ["ecd", "adamw", "sgdm", "soap"]
    assert all(r["trials"][0]["status"] == "done" for r in records)
    again = run(study, watch=lambda event: seen.append(event.kind)).present
    assert [values(r["trials"]) for r in again] == [values(r["trials"]) for r in records]
    assert seen == ["arm"] * 4
    model = trained_model(arms_of(study)[1].trials[0])
    tokens = torch.zeros(1, 5, dtype=torch.int64)
    assert not model.training
    assert model(tokens).shape == (1, 5, store.load_study("ablation-quick")[0]["provenance"]["data"]["vocab_size"])


def test_own_shards_are_checked_against_the_vocabulary(own_shards):
    (record,) = run(params(shards="mine", optimizers="sgdm", symmetry="bQ", activations="gelu")).present
    assert (record["trials"][0]["status"], record["provenance"]["data"]["vocab_size"]) == ("done", 512)
    write_shard(own_shards / "foreign" / "train.bin", [600] * 200)
    write_shard(own_shards / "foreign" / "val.bin", [1] * 200)
    with pytest.raises(DataError, match="token 600, but the vocabulary has 512"):
        shards_of(arms_of(params(shards="foreign"))[0].trials[0])
