"""Replay: equal bits where nothing changed, an explained difference where something did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from actlab import paths
from actlab.data.text import TEXTS
from actlab.errors import BadInput, RecordError
from actlab.records import store
from actlab.study import trial, trial_ablation, trial_repro
from actlab.study.ablation import AblationParams
from actlab.study.mnist import MnistParams
from actlab.study.params import Params
from actlab.study.replay import keep, replay, specification
from actlab.study.run import run
from actlab.trainers.determinism import perturb

SETTINGS: dict[str, Any] = {
    "study": "tiny-quick",
    "model": "tinylstm",
    "activations": "gelu",
    "trials": 2,
    "iterations": 3,
    "evaluate_every": 3,
    "batch_size": 2,
    "prediction_windows": 4,
}


pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def records(tmp_path_factory: pytest.TempPathFactory, toy: Params) -> dict[str, Any]:
    """The two records of a tiny arm, by kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTLAB_RESULTS", str(tmp_path_factory.mktemp("results")))
        patch.setenv("ACTLAB_CACHE", str(tmp_path_factory.mktemp("cache")))
        return {r["kind"]: r for r in run(Params.parse(SETTINGS)).present}


def saved(record: dict[str, Any], **changes: Any) -> Path:
    return store.save(store.path_of("tiny-quick", "copy"), {**record, **changes})


@pytest.mark.parametrize(
    ("kind", "label"), [("trials", None), ("trials", "43"), ("floor", "42-nudge"), ("floor", "42-repeat")]
)
def test_replay_gives_the_recorded_bits(records: dict[str, Any], kind: str, label: str | None) -> None:
    """Every trial of a record, nudged or not, can be trained again to the same weights."""
    found = replay(saved(records[kind]), label)
    assert found.equal, found.sentence
    assert "equal bit for bit" in found.sentence


def test_another_result_is_not_equal(records: dict[str, Any]) -> None:
    """A record of another seed's weights is told from the replay, with both losses."""
    changed = json.loads(json.dumps(records["trials"]))
    changed["trials"][0]["weights_sha256"] = changed["trials"][1]["weights_sha256"]
    found = replay(saved(changed))
    assert not found.equal
    assert "NOT equal" in found.sentence
    assert "are the recorded ones" in found.sentence


def test_another_machine_is_named(records: dict[str, Any]) -> None:
    """Where the processor differs, the sentence says from what to what, and other bits break no promise."""
    changed = json.loads(json.dumps(records["trials"]))
    changed["trials"][0]["weights_sha256"] = "0"
    changed["provenance"]["machine"]["processor"] = "another processor"
    found = replay(saved(changed))
    assert "processor another processor -> " in found.sentence
    assert not found.equal
    assert not found.wrong


def test_equal_bits_from_other_code_are_told_apart(records: dict[str, Any]) -> None:
    """The code that trains was rewritten since: the sentence does not pass that over."""
    changed = json.loads(json.dumps(records["trials"]))
    changed["provenance"]["trial_code_sha256"] = "0"
    found = replay(saved(changed))
    assert found.equal
    assert found.record["changed"] == ["the code that trains"]
    assert found.sentence.endswith("although this changed since: the code that trains")


def test_other_evaluations_of_equal_weights_are_not_equal(records: dict[str, Any]) -> None:
    """Every evaluation is compared, not only the weights."""
    changed = json.loads(json.dumps(records["trials"]))
    changed["trials"][0]["history"][0]["val_loss"] += 1e-15
    found = replay(saved(changed))
    assert found.wrong
    assert found.record["differs"] == ["history"]


def test_a_nudged_replay_is_as_far_away_as_the_noise_floor(
    toy: Params, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another machine, played by one unit in the last place: its total variation from the cached predictions is the
    recorded floor's, exactly."""
    outcome = run(Params.parse({**SETTINGS, "model": "charlm", "iterations": 20}))
    (record,) = outcome.present[1:2]
    fresh_model = trial_repro.fresh_model

    def nudged(spec: Any) -> Any:
        model = fresh_model(spec)
        perturb(model)
        return model

    monkeypatch.setattr(trial_repro, "fresh_model", nudged)
    found = replay(store.path_of("tiny-quick", record["arm"])).record
    assert found["differs"] == ["history", "weights_sha256"] or found["differs"] == ["weights_sha256"]
    assert found["total_variation"] == found["floor"]["total_variation"] > 0
    monkeypatch.setenv("ACTLAB_CACHE", str(tmp_path / "empty"))
    without = replay(store.path_of("tiny-quick", record["arm"]))
    assert without.record["total_variation"] is None
    assert "not in the cache" in without.sentence
    assert "one unit in the last place" in without.sentence


def test_a_replay_that_raises_is_wrong(records: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Not equal, not quiet."""
    path = saved(records["trials"])
    monkeypatch.setattr(trial_repro, "train", lambda *a, **k: 1 / 0)
    found = replay(path)
    assert found.wrong
    assert "FAILED: ZeroDivisionError" in found.sentence


def test_history_lies_beside_the_record(records: dict[str, Any]) -> None:
    """Each replay is a file with a checksum; none is read as an arm's record, and the record stays as it is."""
    path = saved(records["trials"])
    before = path.read_bytes()
    for label in ("42", "43", "43"):
        keep(replay(path, label))
    history = store.load_replays("tiny-quick")
    assert [entry["trial"] for entry in history] == ["42", "43", "43"]
    assert {entry["record_checksum"] for entry in history} == {store.load(path)["checksum"]}
    assert path.read_bytes() == before
    assert len(store.load_study("tiny-quick")) == 1


def test_a_network_of_the_image_sweep_is_replayed_alone() -> None:
    """Trained among others, it comes out the same on its own, in every number that was recorded."""
    settings = {
        "study": "sweep",
        "arms": ["relu", "geglu_equal_width"],
        "hidden": [2, 4],
        "learning_rates": [1e-1, 1e-3],
        "batch_sizes": [64],
    }
    for record in run(MnistParams.parse({**settings, "trials": 2})).present[::5]:
        found = replay(store.path_of("sweep", record["arm"]), "43")
        assert found.equal, found.sentence
        assert "test_accuracy" in found.record["compared"]


def test_an_ablation_is_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every optimizer gives its bits again; nudged, the total variation to the cached weights is told."""
    tiny = {
        "iterations": 2,
        "evaluate_every": 1,
        "batch_size": 2,
        "vocab_size": 300,
        "validation_windows": 4,
        "activations": "gelu",
    }
    text = " ".join(f"the {i * 7919 % 997} cats sat on {i % 13} mats" for i in range(400))
    monkeypatch.setitem(TEXTS._built_in, "pydoc", lambda: text)
    trial_ablation._text_shards.cache_clear()
    for record in run(AblationParams.parse({**tiny, "symmetry": "bQbV"})).present:
        found = replay(store.path_of(record["study"], record["arm"]))
        assert found.equal, found.sentence
    first = trial_ablation.train_trial

    def shaken(*given: Any) -> Any:
        results, tensors = first(*given)
        tensors["weights/tokens.weight"][0, 0] += 1e-6
        return {**results, "weights_sha256": "0"}, tensors

    monkeypatch.setattr(trial_ablation, "train_trial", shaken)
    moved = replay(store.path_of(record["study"], record["arm"]))
    trial_ablation._text_shards.cache_clear()
    assert moved.wrong
    assert not torch.is_inference_mode_enabled()
    assert 0 < moved.record["total_variation"] < 1e-4


def test_what_several_processes_trained_is_refused(records: dict[str, Any]) -> None:
    """Sums over processes have other bits."""
    record = {"arm": "an-arm", "provenance": {"processes": 2}}
    with pytest.raises(RecordError, match="trained by 2 processes"):
        trial.train_again(None, record)


def test_a_device_that_is_not_here_is_named(records: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A record of a GPU, on a machine without."""
    changed = json.loads(json.dumps(records["trials"]))
    changed["config"]["recipe"]["device"] = "cuda"
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(RecordError, match="was trained on cuda, which is not here"):
        replay(saved(changed))


def test_a_record_without_trials_is_refused() -> None:
    """The character tables, for one, train nothing."""
    path = store.save(paths.results() / "tiny" / "baseline.json", {"kind": "baseline", "study": "tiny"})
    with pytest.raises(RecordError, match="'baseline' holds no trials"):
        replay(path)


def test_other_data_is_refused(records: dict[str, Any]) -> None:
    """A replay on another text would compare nothing."""
    changed = json.loads(json.dumps(records["trials"]))
    changed["provenance"]["data"]["sha256"] = "0" * 64
    with pytest.raises(RecordError, match="made on other data"):
        replay(saved(changed))


def test_unknown_label_lists_the_known(records: dict[str, Any]) -> None:
    """The labels of a record are its trials'."""
    with pytest.raises(BadInput, match="known are 42, 43"):
        specification(records["trials"], "44")
