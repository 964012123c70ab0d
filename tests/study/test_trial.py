"""Trials and records: the cache, failures, what a record holds, and the noise floor."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import actlab
from actlab import metrics, paths
from actlab.errors import BadInput, DataError
from actlab.records import store
from actlab.study import trial, trial_repro
from actlab.study.arms import TrialSpec, arm, arms_of
from actlab.study.params import Params
from actlab.trainers.determinism import weights_sha256

AVERAGES = ["avg_relative_pd", "avg_total_variation", "avg_churn", "avg_val_loss", "avg_val_accuracy"]
KEYS = ["model_name", "activation", *AVERAGES, "trials", "reproducibility_metrics", "config"]
pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def spec(toy: Params) -> TrialSpec:
    """The first trial of the toy study."""
    return arms_of(toy)[0].trials[0]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Labels of the trials that are really trained, as they are."""
    labels, real = [], trial_repro.train

    def train(*args: object, **kwargs: object) -> object:
        labels.append(str(args[5]))
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(trial_repro, "train", train)
    return labels


def timeless(results: dict[str, object]) -> str:
    """All results but the times, NaN included."""
    return json.dumps(
        {key: value for key, value in results.items() if key not in ("seconds", "started")}, sort_keys=True
    )


def test_a_finished_trial_is_not_trained_again(spec: TrialSpec, trained: list[str]) -> None:
    """The second call answers from the cache, with the same results down to the seconds."""
    first, second = trial.run_trial(spec), trial.run_trial(spec)
    assert trained == ["42"]
    assert json.dumps(first) == json.dumps(second)


def test_a_trial_leaves_its_file_and_no_checkpoint(spec: TrialSpec) -> None:
    """Predictions, weights and results lie in the cache; the checkpoint is gone."""
    results = trial.run_trial(spec)
    assert [p.name for p in (paths.cache() / "trials").iterdir() if p.suffix not in (".lock",)] == [
        trial.cached(spec).name
    ]
    assert trial.tensors_of(spec)["probabilities"].shape == (5 * 8, 28)
    model = trial.trained_model(spec)
    assert not model.training
    assert weights_sha256(model) == results["weights_sha256"]


def test_training_afresh_looks_at_no_cache_and_leaves_nothing(
    spec: TrialSpec, trained: list[str], tmp_path: Path
) -> None:
    """It trains anew, gets the same bits, and touches no file."""
    fresh = trial.train_afresh(spec)[0]
    assert not paths.cache().exists()
    assert timeless(trial.run_trial(spec)) == timeless(fresh)
    trial.train_afresh(spec)
    assert trained == ["42"] * 3


def test_the_cache_knows_what_a_result_depends_on(spec: TrialSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another setting, text, code or machine is another file."""
    keys = [trial.cached(spec)]
    for change in (
        {"seed": 43},
        {"variant": "nudge"},
        {"activation": "gelu"},
        {"recipe": replace(spec.recipe, learning_rate=1.0)},
    ):
        keys.append(trial.cached(replace(spec, **change)))
    for name in ("code", "machine"):
        with monkeypatch.context() as patch:
            patch.setattr(trial.provenance, name, lambda: {"trial_code_sha256": "other", "processor": "other"})
            keys.append(trial.cached(spec))
    with monkeypatch.context() as patch:
        patch.setattr(trial_repro, "load_text", lambda name, sha256: type("Corpus", (), {"sha256": "other"}))
        keys.append(trial.cached(spec))
    assert len(set(keys)) == len(keys)


def test_an_interrupted_trial_goes_on(spec: TrialSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial killed in mid-study resumes from its checkpoint and ends in the same bits."""
    whole = trial.train_afresh(spec)[0]

    def stop(iteration: int, loss: float) -> None:
        raise KeyboardInterrupt

    ticks: Iterator[float] = iter(range(1000))
    with monkeypatch.context() as patch:
        patch.setattr("actlab.trainers.loop.time.perf_counter", lambda: float(next(ticks)))
        with pytest.raises(KeyboardInterrupt):
            trial.run_trial(spec, stop)
    assert trial.cached(spec).with_suffix(".checkpoint").exists()
    assert not trial.cached(spec).exists()
    assert timeless(trial.run_trial(spec)) == timeless(whole)
    assert not trial.cached(spec).with_suffix(".checkpoint").exists()


def test_a_failed_trial_is_told_and_tried_again(spec: TrialSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception in training becomes a status with its traceback, is never cached, and the next call succeeds."""
    with monkeypatch.context() as patch:
        patch.setattr(trial_repro, "train", lambda *args, **kwargs: 1 / 0)
        results = trial.run_trial(spec)
    assert results["status"] == "failed"
    assert "ZeroDivisionError" in results["traceback"]
    assert results["label"] == "42"
    assert trial.run_trial(spec)["status"] == "done"


def test_missing_data_is_not_a_failed_trial(spec: TrialSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user can mend stops the study with its message."""

    def missing(spec: TrialSpec) -> None:
        raise DataError("no data")

    monkeypatch.setattr(trial_repro, "windows_of", missing)
    with pytest.raises(DataError, match="no data"):
        trial.train_afresh(spec)


def test_record_keys(toy: Params) -> None:
    """A record has the documented keys first, and survives its file unchanged."""
    record = actlab.run_experiment("charlm", "relu", toy)
    assert list(record)[: len(KEYS)] == KEYS
    assert "provenance" in record
    one = arm(toy, "charlm", "relu")
    assert store.load(store.path_of("toy", one.id)) == {**record, "checksum": store.checksum(record)}
    assert record["arm"] == one.id
    assert record["config"] == json.loads(json.dumps(one.config))


def test_record_content(toy: Params) -> None:
    """Averages are the means of what the record lists; every pair is there once; each trial tells its history."""
    record = actlab.run_experiment("charlm", "relu", toy)
    trials, pairs = record["trials"], record["reproducibility_metrics"]
    assert [t["label"] for t in trials] == ["42", "43", "44"]
    assert [p["between"] for p in pairs] == [["42", "43"], ["42", "44"], ["43", "44"]]
    assert record["avg_val_loss"] == pytest.approx(sum(t["final"]["val_loss"] for t in trials) / 3)
    assert record["avg_val_accuracy"] == pytest.approx(sum(t["final"]["val_accuracy"] for t in trials) / 3)
    for key in ("relative_pd", "total_variation", "churn"):
        assert record[f"avg_{key}"] == pytest.approx(sum(p[key] for p in pairs) / 3)
    for each in trials:
        assert [entry["iteration"] for entry in each["history"]] == [0, 2, 4]
        assert each["final"] == each["history"][-1]
        assert each["best"] in [{**entry} for entry in each["history"]]
        assert each["status"] == "done"
        assert each["n_parameters"] > 1000
        assert set(each["seconds"]) == {"training", "evaluation"}
    assert len({t["weights_sha256"] for t in trials}) == 3


def test_pairs_are_computed_from_the_trials_predictions(toy: Params) -> None:
    """A pair's numbers are the metrics of the two prediction tensors on the same frozen windows."""
    one = arm(toy, "charlm", "relu")
    pair = actlab.run_experiment("charlm", "relu", toy)["reproducibility_metrics"][1]
    p, q = (trial.tensors_of(one.trials[i])["probabilities"] for i in (0, 2))
    targets = trial_repro.windows_of(one.trials[0])[2].targets.flatten()
    assert pair["total_variation"] == metrics.total_variation(p, q) > 0
    assert pair["relative_pd"] == metrics.relative_pd(p, q)
    assert pair["churn"] == metrics.churn(p, q)
    assert pair["jensen_shannon"] == metrics.jensen_shannon(p, q)
    assert pair["label_pd"] == metrics.label_pd(p, q, targets)
    assert pair["churn_win"] + pair["churn_loss"] + pair["churn_neutral"] == pytest.approx(pair["churn"])


def test_provenance(toy: Params) -> None:
    """A record says when, with which code, versions and machine, and on which data and windows it was made."""
    about = actlab.run_experiment("charlm", "relu", toy)["provenance"]
    corpus, validation, frozen = trial_repro.windows_of(arm(toy, "charlm", "relu").trials[0])
    assert {
        "date",
        "git_commit",
        "git_dirty",
        "lib_sha256",
        "trial_code_sha256",
        "machine",
        "threads",
        "path",
        "data",
    } <= set(about)
    assert about["machine"]["torch"] == torch.__version__
    assert (about["threads"], about["path"]) == (1, "loop")
    assert about["data"] == {
        "name": "pydoc",
        "sha256": corpus.sha256,
        "vocab_size": 28,
        "validation_positions": len(corpus.validation) - 1,
        "prediction_positions": 40,
        "evaluation_sha256": frozen.sha256,
    }
    assert validation.positions == len(corpus.validation) - 1


def test_noise_floor(toy: Params) -> None:
    """The same seed run twice gives the same bits, so PD is exactly 0; one ULP in one weight gives a PD above 0."""
    settings = toy.replace(noise_floor=True, activations="gelu", iterations=20)
    floor = arms_of(settings)[1]
    record = trial.record_of(floor, [trial.run_trial(spec) for spec in floor.trials])
    repeat, nudged = record["reproducibility_metrics"]
    assert repeat["between"] == ["42", "42-repeat"]
    assert nudged["between"] == ["42", "42-nudge"]
    assert [repeat[name] for name in ("total_variation", "relative_pd", "churn", "jensen_shannon", "label_pd")] == [
        0.0
    ] * 5
    assert 0 < nudged["total_variation"] < 1e-3
    plain, again, moved = record["trials"]
    assert plain["weights_sha256"] == again["weights_sha256"] != moved["weights_sha256"]


def test_a_diverged_trial_shows_and_is_left_out_of_means(toy: Params) -> None:
    """NaN stays in the record's file; means and pairs are over the trials that are done, NaN where there are none."""
    record = actlab.run_experiment("charlm", "relu", toy.replace(learning_rate=1e9, iterations=40))
    assert [t["status"] for t in record["trials"]] == ["diverged"] * 3
    assert record["reproducibility_metrics"] == []
    assert all(math.isnan(record[key]) for key in AVERAGES)
    assert not math.isfinite(record["trials"][0]["final"]["val_loss"])
    assert "NaN" in store.path_of("toy", record["arm"]).read_text()


def test_run_experiment_takes_plain_settings_and_loads_what_is_recorded(toy: Params, trained: list[str]) -> None:
    """A dictionary does as well as Params, and a recorded arm is not trained again."""
    first = actlab.run_experiment("charlm", "relu", toy)
    assert trained == ["42", "43", "44"]
    again = actlab.run_experiment("charlm", "relu", toy.model_dump())
    assert trained == ["42", "43", "44"]
    assert {**first, "checksum": again["checksum"]} == again


def test_run_experiment_refuses_bad_input(toy: Params) -> None:
    """Names and settings are checked before anything is trained."""
    with pytest.raises(BadInput, match="unknown model 'convml'"):
        actlab.run_experiment("convml", "relu", toy)
    with pytest.raises(BadInput, match="unknown activation 'rleu'"):
        actlab.run_experiment("charlm", "rleu", toy)
    for several in ({"varies": ["init", "order"]}, {"scales": ["lite"]}):
        with pytest.raises(BadInput, match="one experiment is one arm"):
            actlab.run_experiment("charlm", "relu", several)
    with pytest.raises(BadInput, match=r"trials=1.5"):
        actlab.run_experiment("charlm", "relu", {"trials": 1.5})
    assert not paths.cache().exists()
