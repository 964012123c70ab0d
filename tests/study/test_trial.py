"""One trial's path: cache, resumption, failures, what its arm's record holds, and the model behind a record."""

import json
import math
import re
import shutil
from unittest.mock import Mock

import pandas as pd
import pytest
import tiny
import torch
from faulty import essence

from actlab import metrics, paths
from actlab.errors import BadInput, DataError
from actlab.records import store
from actlab.study import cache
from actlab.study.after.load_model import load_model, trial_of
from actlab.study.cache import place_of, tensors_of
from actlab.study.characters import trial
from actlab.study.record import record_of
from actlab.study.run import run
from actlab.trainers import checkpoint, loop
from actlab.trainers.determinism import weights_sha256
from actlab.trainers.evaluation import predict

AVERAGES = ["avg_relative_pd", "avg_total_variation", "avg_churn", "avg_val_loss", "avg_val_accuracy"]
KEYS = ["model_name", "activation", *AVERAGES, "trials", "reproducibility_metrics", "config"]
pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def spec(toy):
    """The first trial of the toy study."""
    return toy.arms()[0].trials[0]


@pytest.fixture
def training(monkeypatch):
    """Calls of the loop."""
    monkeypatch.setattr(loop, "train", Mock(wraps=loop.train))
    return loop.train


def test_a_finished_trial_lies_in_the_cache_and_is_not_trained_again(spec, training):
    """Weights and results, and no checkpoint; trained afresh, it has the same bits and touches no file."""
    fresh = tiny.afresh(spec)[0]
    assert not paths.cache().exists()
    first, second = tiny.cached(spec), tiny.cached(spec)
    assert training.call_count == 2
    assert json.dumps(first) == json.dumps(second)
    assert json.dumps(essence(first)) == json.dumps(essence(fresh))
    assert [p.name for p in place_of(spec).parent.iterdir() if p.suffix != ".lock"] == [place_of(spec).name]
    model = spec.trained(tensors_of(spec))
    assert not model.training
    assert weights_sha256(model) == first["weights_sha256"]


def test_a_snapshot_that_is_gone_is_made_again(toy):
    """Its trial is trained again."""
    spec = toy.replace(snapshots=[1]).arms()[0].trials[0]
    for _ in range(2):
        tiny.cached(spec, snapshots=(1,))
        kept = cache.snapshot_of(place_of(spec), 1)
        assert tensors_of(spec, 1)
        kept.unlink()


def test_nothing_is_trained_twice(toy, training):
    """What is only measured is no part of a trial: a perturbed arm takes its plain trials from the arm that keeps their
    snapshots, and each stream's first seed is the trial of all streams; other windows are looked at without
    training."""
    one = toy.replace(activation="relu", trials=2, perturbations=["nudge"], snapshots=[2], varies=["all", "init"])
    run(one)
    assert training.call_count == 2 + 2 + 1, "plain, nudged, and the second seed of the weights alone"
    run(one.replace(study="other", prediction_windows=3, ensembles=[], perturbations=[]))
    assert training.call_count == 5


def test_the_cache_knows_what_a_result_depends_on(spec, monkeypatch):
    """Another setting, text, code or machine is another file."""
    changes = ({"seed": 43}, {"change": "nudge"}, {"learning_rate": 1.0})
    keys = [place_of(spec), *(place_of(spec.model_copy(update=change)) for change in changes)]
    for name in ("code", "machine"):
        with monkeypatch.context() as patch:
            patch.setattr(cache, name, lambda: {"trial_code_sha256": "other", "processor": "other"})
            keys.append(place_of(spec))
    monkeypatch.setattr(trial, "load_text", lambda name: type("Corpus", (), {"sha256": "other"}))
    assert len({*keys, place_of(spec)}) == len(keys) + 1


def test_what_the_user_can_mend_stops_the_study(spec, monkeypatch):
    """Another exception is a trial's status (``test_run``)."""
    monkeypatch.setattr(trial.CharacterTrial, "text", property(Mock(side_effect=DataError("no data"))))
    with pytest.raises(DataError, match="no data"):
        tiny.afresh(spec)


def test_a_record(toy):
    """The documented keys first; averages are the means of what it lists; every pair once, with the metrics of the two
    prediction tensors on the same frozen windows; it survives its file; it says when, with which code, versions and
    machine, and on which data it was made."""
    one, record = tiny.arm(toy), tiny.relu(toy)
    assert list(record)[: len(KEYS)] == KEYS
    assert store.load(store.path_of("toy", one.id)) == {**record, "checksum": store.checksum(record)}
    assert (record["arm"], record["config"]) == (one.id, json.loads(json.dumps(dict(one.config))))
    trials, pairs = record["trials"], record["reproducibility_metrics"]
    assert [p["between"] for p in pairs] == [["42", "43"], ["42", "44"], ["43", "44"]]
    means = {**pd.DataFrame([t["final"] for t in trials]).mean(), **pd.DataFrame(pairs).mean(numeric_only=True)}
    assert [record[name] for name in AVERAGES] == pytest.approx([means[name.removeprefix("avg_")] for name in AVERAGES])
    assert [entry["iteration"] for entry in trials[0]["history"]] == [0, 2, 4]
    assert trials[0]["final"] == trials[0]["history"][-1]
    assert set(trials[0]["seconds"]) == {"training", "evaluation"}
    corpus, frozen = one.trials[0].text, one.trials[0].compared_on(5)
    p, q = (predict(one.trials[i].trained(tensors_of(one.trials[i])), frozen) for i in (0, 2))
    rows = {
        name: getattr(metrics, name)(p, q) for name in ("total_variation", "relative_pd", "churn", "jensen_shannon")
    }
    win, loss, neutral = metrics.churn_split(p, q, targets := frozen.targets.flatten())
    split = {"churn_win": win, "churn_loss": loss, "churn_neutral": neutral}
    assert pairs[1] == {
        "between": ["42", "44"],
        **rows,
        **split,
        "label_pd": metrics.label_pd(p, q, targets),
    }
    about = record["provenance"]
    assert {"date", "git_commit", "git_dirty", "trial_code_sha256"} <= set(about)
    assert (about["machine"]["torch"], about["threads"]) == (torch.__version__, 1)
    assert (about["data"]["sha256"], about["data"]["evaluation_sha256"]) == (corpus.sha256, frozen.sha256)


def test_a_diverged_trial_shows_and_is_left_out_of_means(toy):
    """Means and pairs are over the trials that are done, NaN where there are none; in the file they are null."""
    record = tiny.relu(toy.replace(learning_rate=1e9, iterations=40))
    assert [t["status"] for t in record["trials"]] == ["diverged"] * 3
    assert record["reproducibility_metrics"] == []
    assert all(math.isnan(record[key]) for key in AVERAGES)
    text = store.path_of("toy", record["arm"]).read_text()
    assert '"avg_val_loss": null' in text
    assert not re.search("NaN|Infinity", text)


def test_run_experiment(toy, training):
    """A dictionary does as well as CharacterStudy, a recorded arm is not trained again, and more than one arm is
    refused before training."""
    for more in ({"varies": ["init", "order"]}, {"scale": ["lite", "quick"]}):
        with pytest.raises(BadInput, match="one experiment is one arm"):
            tiny.relu(more)
    assert not paths.cache().exists()
    first = tiny.relu(toy)
    again = tiny.relu(toy.model_dump())
    assert training.call_count == 3
    assert {**first, "checksum": again["checksum"]} == again


def test_load_model_takes_kept_weights_or_trains_again(toy, caplog):
    """With the cache and without it the weights are those of the record's hash; where they are not, a warning says
    so."""
    record = tiny.relu(toy)
    wanted = record["trials"][1]["weights_sha256"]
    assert weights_sha256(load_model(store.path_of("toy", record["arm"]), 43)) == wanted
    shutil.rmtree(paths.cache())
    again = load_model(record, 43)
    assert weights_sha256(again) == wanted
    assert not again.training
    assert caplog.text == ""
    record["trials"][0]["weights_sha256"] = "0" * 64
    load_model(record)
    assert "trial 42: these are not the recorded weights" in caplog.text
    with pytest.raises(BadInput, match=r"unknown trial '7' in .*known are 42, 43"):
        load_model(record, 7)
    record["trials"][1]["status"] = "diverged"
    with pytest.raises(BadInput, match="trial 43 is diverged"):
        load_model(record, 43)


@pytest.mark.data("tinyshakespeare/input.txt")
def test_committed_weights_are_those_that_they_name(committed):
    """Of one seed of each model of repro-lite, bit for bit those of the recorded noise floor on that processor: their
    loss is the one recorded there."""
    files = sorted((paths.results() / "repro-lite" / "weights").glob("*.safetensors"))
    assert len(files) == 6
    assert sum(file.stat().st_size for file in files) < 12e6
    for file in files:
        about = checkpoint.read_tensors(file)[1]
        record, of = (store.load(store.path_of("repro-lite", about[name])) for name in ("arm", "of"))
        assert trial_of(record, about["trial"]).weights == file
        recorded = of["trials"][0]
        assert (recorded["label"], recorded["weights_sha256"]) == (about["trial"], about["weights_sha256"])
        assert weights_sha256(load_model(record)) == about["weights_sha256"]


def test_one_thing_changes_between_a_perturbed_run_and_itself(toy):
    """Each change of a stream has another seed for it alone; a nudge at a step leaves all before it, and its snapshot
    there; the record compares them with the unchanged run along the way too, weights included."""
    changes = ("nudge", "nudge-2", "init", "order", "dropout", "all")
    one = toy.replace(trials=1, noise_floor=False, activation="gelu")
    settings = one.replace(snapshots=(1, 2), follow=True, perturbations=changes)
    plain, perturbed = settings.arms()[0], settings.arms()[-1]
    assert place_of(plain.trials[0]) == place_of(perturbed.trials[0]), "the unchanged run is trained once"
    streams = ("init", "order", "dropout")
    for spec in perturbed.trials:
        changed = {stream for stream in streams if spec.seed_of(stream) != spec.seed}
        assert changed == ({spec.change} if spec.change in streams else {*streams} if spec.change == "all" else set())
    record = record_of(perturbed, [tiny.cached(spec, snapshots=(1, 2)) for spec in perturbed.trials])
    ends = {pair["between"][1]: pair for pair in record["reproducibility_metrics"]}
    assert set(ends) == {f"42-{name}" for name in changes}
    assert all(pair["weight_distance"] > 0 for pair in ends.values())
    one, two = ({p["between"][1]: p["weight_distance"] for p in moment["pairs"]} for moment in record["trajectory"])
    assert one["42-nudge-2"] == two["42-nudge-2"] == 0 < one["42-nudge"] < one["42-order"]
    store.check_record(json.loads(json.dumps(record)))
