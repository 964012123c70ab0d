"""What records measure beyond single pairs: trajectories, ensembles, perturbed trials, single streams; and the tables
that need no network."""

import math
from math import comb

import pytest
import tiny
import torch
from torch.nn import functional as F

from actlab import metrics
from actlab.data.text import corpus_of, text_tables
from actlab.errors import BadInput
from actlab.records import store
from actlab.study import tokens
from actlab.study.after.load_model import trial_of
from actlab.study.cache import tensors_of, train_afresh
from actlab.study.characters.comparison import disjoint, ensembles
from actlab.study.characters.study import CharacterStudy, record_baselines
from actlab.study.run import Started, run, run_experiment
from actlab.trainers.determinism import weights_sha256
from actlab.trainers.evaluation import evaluate


def test_trajectory_compares_the_trials_along_the_way(toy):
    """A snapshot of a longer trial is the end of a shorter one, bit for bit: weights, history, pairs; the record ends
    as without snapshots, and an ordinary one has none of the blocks."""
    short = tiny.relu(toy.replace(study="short", iterations=2))
    whole = tiny.relu(toy)
    assert not {"as_published", "trajectory", "ensembles"} & set(whole)
    settings = toy.replace(study="long", snapshots=[2])
    record = tiny.relu(settings)
    (entry,) = record["trajectory"]
    assert (entry["iteration"], entry["as_published"]) == (2, {})
    assert [t["val_loss"] for t in entry["trials"]] == [t["final"]["val_loss"] for t in short["trials"]]
    far = [[p["total_variation"] for p in pairs] for pairs in (entry["pairs"], short["reproducibility_metrics"])]
    assert far[0] == far[1]
    assert record["reproducibility_metrics"] == whole["reproducibility_metrics"]
    trial = tiny.arm(settings).trials[0]
    assert weights_sha256(trial.trained(tensors_of(trial, 2))) == short["trials"][0]["weights_sha256"]
    assert trial_of(record, "42").trial == trial


def test_a_curve_in_bfloat16_ends_in_float32(toy):
    """The products of an evaluation are in bfloat16, as those of training; the last one is in float32."""
    trial = tiny.arm(toy.replace(dtype="bfloat16")).trials[0]
    ((results, tensors),) = train_afresh(tiny.task(trial))
    first, *_, last = results["history"]
    windows = trial.validation_set()
    measures = {dtype: evaluate(trial.fresh(), windows, dtype) for dtype in ("float32", "bfloat16")}
    assert first == first | measures["bfloat16"]
    assert measures["bfloat16"]["val_loss"] != measures["float32"]["val_loss"]
    assert measures["bfloat16"]["val_loss"] == pytest.approx(measures["float32"]["val_loss"], abs=1e-3)
    assert last == last | evaluate(trial.trained(tensors), windows)


def test_new_snapshots_of_ended_trials_are_trained(toy):
    """The run says so: what is in the cache has not these weights; once they are there it trains nothing."""
    run(toy)
    for study, missing in (("asked-later", 6), ("asked-again", 0)):
        started: list[Started] = []
        run(toy.replace(study=study, snapshots=[2]), watch=started.append)
        assert started[0].missing == missing


def test_the_run_says_what_the_noise_floor_adds(toy):
    """Two trials of the first seed, beside those that are compared with each other."""
    started: list[Started] = []
    run(toy.replace(activation="gelu", trials=2, noise_floor=True), watch=started.append)
    assert str(started[0]) == "4 trials to train (2 for the noise floor), 0 cached"


def test_single_streams(toy):
    """Varying one stream gives trials that differ, and differ from those of another stream; the first seed is the same
    trial in every arm; a model without dropout does not vary with its stream."""
    streams = ["all", "init", "order", "dropout"]
    records = run(toy.replace(activation="gelu", varies=streams, trials=2)).present
    first, second = ([r["trials"][i]["weights_sha256"] for r in records] for i in range(2))
    assert (len(set(first)), len(set(second))) == (1, 4)
    assert all(p["total_variation"] > 0 for r in records for p in r["reproducibility_metrics"])
    assert [r["config"].get("varies", "all") for r in records] == streams
    still = run_experiment("nanotransformer", "gelu", toy.replace(varies="dropout", trials=2))
    assert still["arm"].startswith("nanotransformer-gelu-dropout-")
    assert still["reproducibility_metrics"][0]["total_variation"] == 0


def test_perturbed_trials_are_compared_with_themselves_unchanged(toy):
    """A pair a seed and change; repeats give exactly 0 in every metric, other changes
    do not. A noise floor is that of the first seed."""
    ways = ["repeat", "nudge", "bfloat16"]
    settings = toy.replace(activation="gelu", trials=2, iterations=20, perturbations=ways, noise_floor=True)
    _, floor, record = run(settings).present
    found = {tuple(p["between"]): p for p in record["reproducibility_metrics"]}
    assert len(found) == 2 * 3
    for seed in ("42", "43"):
        assert {value for name, value in found[seed, f"{seed}-repeat"].items() if name != "between"} == {0}
        moved, rounded = (found[seed, f"{seed}-{way}"]["total_variation"] for way in ("nudge", "bfloat16"))
        assert 0 < moved < rounded
        assert moved < 1e-3
    assert floor["reproducibility_metrics"] == [found["42", "42-repeat"], found["42", "42-nudge"]]


@pytest.mark.parametrize(("trials", "size"), [(2, 1), (5, 1), (4, 2), (5, 2), (6, 3)])
def test_every_pair_of_disjoint_ensembles_once(trials, size):
    """C(M, m) C(M - m, m) / 2 unordered pairs, none sharing a trial."""
    found = list(disjoint([str(i) for i in range(trials)], size))
    assert len(found) == comb(trials, size) * comb(trials - size, size) / 2
    assert len({frozenset(pair) for pair in found}) == len(found)
    assert all(not set(a) & set(b) for a, b in found)


def test_ensembles_are_compared_by_their_mean_probabilities(toy):
    """The metric of the averages, not the average of the metrics: opposite errors cancel; those of one trial are the
    ordinary pairs; a record has all of them."""
    one, other = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    p = {"1": one, "2": other, "3": one, "4": other}
    found = {str(entry["between"]): entry["total_variation"] for entry in ensembles(p, 2)}
    assert found == {"[['1', '2'], ['3', '4']]": 0.0, "[['1', '3'], ['2', '4']]": 1.0, "[['1', '4'], ['2', '3']]": 0.0}
    assert ensembles(p, 1, 4)[-1]["between"] == [["2"], ["4"]]  # the fifth of six: evenly spread
    assert ensembles(p, 1)[0] == {"between": [["1"], ["2"]], **metrics.row_means(one, other)}
    record = tiny.relu(toy.replace(trials=4, ensembles=[2]))
    assert [len(pairs) for pairs in record["ensembles"].values()] == [3]


def test_equal_compute_and_averaged_weights_are_in_the_record(toy):
    """Two networks of half the steps beside one of all; pairs of the averaged weights, and their loss."""
    settings = toy.replace(trials=4, snapshots=[2], equal_compute=[2], average=0.9)
    record = tiny.relu(settings)
    assert [(each["size"], each["iteration"]) for each in record["equal_compute"]] == [(1, 4), (2, 2)]
    assert [len(each["losses"]) for each in record["equal_compute"]] == [4, 2]
    assert record["equal_compute"][0]["losses"][0]["loss"] > 0
    assert len(record["average"]) == 6
    assert all(t["average"]["val_loss"] != t["final"]["val_loss"] for t in record["trials"])


def test_tables_of_made_texts():
    """Four characters in a cycle: each costs ln 4 alone, the first is guessed always; after the one before it, what
    smoothing costs, and nothing is guessed wrong."""
    found = text_tables(corpus_of("abcd", "abcd" * 100))
    assert found["unigram"] == pytest.approx({"val_loss": math.log(4), "val_accuracy": 100 * 9 / 39})
    assert found["bigram"]["val_accuracy"] == 100
    assert found["bigram"]["val_loss"] == pytest.approx(-math.log(90.1 / 90.4), abs=2e-4)


def first_trials(**part):
    return [arm.trials[0] for arm in CharacterStudy(**part).arms()]


def test_the_record_of_baselines_is_written_once():
    """Less text gives tables that know less, and a character that it lacks costs no infinity; in one study they are of
    one part of the text."""
    for study, fraction in (("whole", 1.0), ("whole", 1.0), ("part", 0.01)):
        record_baselines(study, first_trials(train_fraction=fraction))
    with pytest.raises(BadInput, match="tables of another part of treasure"):
        record_baselines("whole", first_trials(validation="second"))
    (whole,), (part,) = (store.load_study(study) for study in ("whole", "part"))
    assert (whole["kind"], part["provenance"]["data"]["train_fraction"]) == ("baseline", 0.01)
    for table in ("unigram", "bigram"):
        assert whole[table]["val_loss"] < part[table]["val_loss"] < math.inf


def test_batch_losses_are_those_of_contiguous_spans(monkeypatch):
    """Each batch is one span of the text; a fresh loss of the first and the last agrees."""
    monkeypatch.setattr(tokens, "BATCH_TOKENS", 32)
    monkeypatch.setattr(tokens, "SPANS", 5)
    net, text = tiny.gpt2(dropout=0.1, symmetry="bQbV").train(), tiny.text(400).int()
    found = tokens.batch_losses(net, text)
    assert net.training
    assert found["batch_tokens"] == 32
    assert len(found["batch_losses"]) == 5
    net.eval()
    for batch, start in ((0, 0), (-1, (399 // 32 - 1) * 32)):
        span = text[start : start + 33].long()
        slow = F.cross_entropy(net(span[:-1].view(4, 8)).flatten(0, 1), span[1:])
        assert found["batch_losses"][batch] == pytest.approx(slow.item(), abs=2e-6)
