"""Models behind records: from kept weights, else trained again; other weights than recorded are refused."""

from __future__ import annotations

import shutil

import pytest
import torch

import actlab
from actlab import paths
from actlab.data.text import load_text
from actlab.errors import BadInput, RecordError
from actlab.records import store
from actlab.study import explore, run
from actlab.study.mnist import MnistParams
from actlab.study.params import Params
from actlab.trainers.determinism import weights_sha256

TINY = {
    "model": "nanotransformer",
    "activations": "relu",
    "iterations": 4,
    "evaluate_every": 2,
    "batch_size": 2,
    "prediction_windows": 8,
}
pytestmark = pytest.mark.usefixtures("toy")
PARAMS = Params.parse({"study": "kept", "trials": 2, "noise_floor": False, **TINY})


def test_kept_and_trained_again_are_the_same_model_and_others_are_refused() -> None:
    """With the cache and without it the weights are those of the record's hash; a record with another hash is told
    so."""
    record = run.run(PARAMS).records[0]
    path = store.path_of("kept", record["arm"])
    wanted = record["trials"][1]["weights_sha256"]
    assert weights_sha256(actlab.load_model(path, 43)) == wanted
    shutil.rmtree(paths.cache())
    again = actlab.load_model(record, 43)
    assert weights_sha256(again) == wanted
    assert not again.training
    with torch.inference_mode():
        assert again(torch.zeros(1, 3, dtype=torch.int64)).shape == (1, 3, load_text("pydoc").vocab_size)
    record["trials"][0]["weights_sha256"] = "0" * 64
    with pytest.raises(
        RecordError, match=r"trial 42: trained again here it has other weights .* than the record says \(000000000000\)"
    ):
        actlab.load_model(record)
    with pytest.raises(BadInput, match="has no trial '7': known are 42, 43"):
        actlab.load_model(record, 7)
    record["trials"][1]["status"] = "diverged"
    with pytest.raises(BadInput, match="trial 43 is diverged"):
        actlab.load_model(record, 43)


def test_a_recorded_model_writes() -> None:
    """The prompt and so many characters; the draws' seed matters; what the text lacks is refused before anything is
    trained."""
    record = run.run(PARAMS.replace(trials=1)).records[0]
    path = store.path_of("kept", record["arm"])
    text = explore.written(path, 42, "the ", 30)
    assert text.startswith("the ")
    assert len(text) == 34
    assert explore.written(path, 42, "the ", 30) == text
    assert explore.written(path, 42, "the ", 30, draw=1) != text
    shutil.rmtree(paths.cache())
    with pytest.raises(BadInput, match="the vocabulary of pydoc has no"):
        explore.written(path, 42, "\N{SNOWMAN}")
    assert not paths.cache().exists()


def test_an_image_sweep_keeps_no_weights() -> None:
    sweep = MnistParams.parse(
        {"study": "s", "arms": ["relu"], "hidden": [2], "learning_rates": [0.01], "batch_sizes": [64], "trials": 1}
    )
    with pytest.raises(BadInput, match="a record of kind 'mnist' keeps no weights"):
        actlab.load_model(run.run(sweep).records[0])
