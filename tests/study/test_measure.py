"""The blocks that only some records have: trajectories, ensembles, perturbed trials, single streams."""

from __future__ import annotations

import pytest

import actlab
from actlab.records import store
from actlab.study import trial
from actlab.study.arms import arm, arms_of
from actlab.study.params import Params
from actlab.study.run import run
from actlab.study.trial import specification
from actlab.trainers.determinism import weights_sha256


def test_an_ordinary_record_has_none_of_them(toy: Params) -> None:
    """The blocks are absent, not empty."""
    assert not {"as_published", "trajectory", "ensembles"} & set(actlab.run_experiment("charlm", "relu", toy))


def test_trajectory_compares_the_trials_along_the_way(toy: Params) -> None:
    """A snapshot of a longer trial is the end of a shorter one: same history, same pairs; the record ends as without
    snapshots."""
    short = actlab.run_experiment("charlm", "relu", toy.replace(study="short", iterations=2))
    whole = actlab.run_experiment("charlm", "relu", toy)
    record = actlab.run_experiment("charlm", "relu", toy.replace(study="long", snapshots=[2]))
    (entry,) = record["trajectory"]
    assert entry["iteration"] == 2
    assert [t["val_loss"] for t in entry["trials"]] == [t["final"]["val_loss"] for t in short["trials"]]
    assert [p["total_variation"] for p in entry["pairs"]] == [
        p["total_variation"] for p in short["reproducibility_metrics"]
    ]
    assert record["reproducibility_metrics"] == whole["reproducibility_metrics"]
    assert entry["as_published"] == {}


def test_snapshots_are_the_weights_of_that_iteration(toy: Params) -> None:
    """Loaded again, a snapshot is the model of the shorter trial, bit for bit."""
    spec = arm(toy.replace(snapshots=[2]), "charlm", "relu").trials[0]
    trial.run_trial(spec)
    short = trial.run_trial(arm(toy.replace(iterations=2), "charlm", "relu").trials[0])
    assert weights_sha256(trial.trained_model(spec, 2)) == short["weights_sha256"]
    assert (
        specification(
            trial.record_of(arm(toy.replace(snapshots=[2], trials=1), "charlm", "relu"), [trial.run_trial(spec)]), "42"
        )
        == spec
    )


def test_ensembles_are_in_the_record(toy: Params) -> None:
    """Every pair of disjoint ensembles, beside the ordinary pairs."""
    record = actlab.run_experiment("charlm", "relu", toy.replace(trials=4, ensembles=[2]))
    assert [len(record["ensembles"][size]) for size in record["ensembles"]] == [3]
    assert store.load(store.path_of("toy", record["arm"]))["ensembles"] == record["ensembles"]


def test_single_streams(toy: Params) -> None:
    """Varying one stream gives trials that differ, and differ from those of another stream; the first seed is the same
    trial in every arm."""
    params = toy.replace(activations="gelu", varies=["all", "init", "order", "dropout"], noise_floor=False, trials=2)
    records = run(params).present[1:]
    first, second = ([r["trials"][i]["weights_sha256"] for r in records] for i in range(2))
    assert len(set(first)) == 1
    assert len(set(second)) == 4
    assert all(p["total_variation"] > 0 for r in records for p in r["reproducibility_metrics"])
    assert [r["config"].get("varies", "all") for r in records] == ["all", "init", "order", "dropout"]


def test_a_model_without_dropout_does_not_vary_with_its_stream(toy: Params) -> None:
    """nanotransformer drops nothing: other dropout seeds give the same bits."""
    (one,) = arms_of(toy.replace(model="nanotransformer", activations="gelu", varies="dropout", trials=2))
    record = trial.record_of(one, [trial.run_trial(spec) for spec in one.trials])
    assert record["reproducibility_metrics"][0]["total_variation"] == 0


@pytest.mark.slow
def test_perturbed_trials_are_compared_with_themselves_unchanged(toy: Params) -> None:
    """A pair a seed and change, and the two runs on two threads; repeats give 0, other changes do not."""
    params = toy.replace(
        activations="gelu",
        trials=2,
        iterations=20,
        perturbations=["repeat", "nudge", "threads2", "threads2repeat", "bfloat16"],
    )
    one = arms_of(params)[-1]
    record = trial.record_of(one, [trial.run_trial(spec) for spec in one.trials])
    found = {tuple(p["between"]): p["total_variation"] for p in record["reproducibility_metrics"]}
    assert len(found) == 2 * 6
    for seed in ("42", "43"):
        assert found[seed, f"{seed}-repeat"] == found[f"{seed}-threads2", f"{seed}-threads2repeat"] == 0
        assert 0 < found[seed, f"{seed}-nudge"] < found[seed, f"{seed}-bfloat16"]
    assert record["provenance"]["threads"] == 2


def test_one_experiment_may_vary_one_stream(toy: Params) -> None:
    """``run_experiment`` trains the arm of the stream that it is given."""
    record = actlab.run_experiment("charlm", "relu", toy.replace(varies="init"))
    assert record["arm"].startswith("charlm-relu-init-")


def test_a_bad_snapshot_is_refused(toy: Params) -> None:
    """Weights exist before the last step only: those after it are the trial's own."""
    with pytest.raises(actlab.errors.BadInput, match="snapshots: 20"):
        toy.replace(iterations=20, snapshots=[20])
