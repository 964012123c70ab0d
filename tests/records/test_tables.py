"""The tidy tables: one row a trial, one a pair, the records' own numbers, every column documented; read without
torch."""

import copy
import json

import grids
import pandas as pd
import pytest
from damage import DROP, changed

import actlab
from actlab import paths
from actlab.errors import BadInput, RecordError, UnknownName
from actlab.records import tables


def test_rows_are_the_records_own():
    """Every trial and every pair once, with its numbers; what a diverged trial has not measured stays empty."""
    grids.save(grids.record(status={2: "diverged"}), grids.floor())
    trials, pairs = actlab.load("made-up")
    assert trials["val_loss"].tolist()[:2] == [2.0, 2.1]
    assert trials["val_loss"].isna().tolist() == [False, False, True]
    assert trials["status"].tolist() == ["done", "done", "diverged"]
    assert pairs[["first", "second", "churn"]].to_numpy().tolist() == [["42", "43", pytest.approx(0.11)]]


def test_changed_repetitions_and_defects_come_when_asked_for():
    """Each says which seed was changed, and how; without them the table of pairs has the record's own averages."""
    defect = grids.record(protocol=["activation: ignored"]) | {"arm": "charlm-relu-defect"}
    grids.save(grids.record(), grids.floor(), defect)
    _, floors = actlab.load("made-up", kind="floor")
    assert floors[["seed", "variant", "second"]].to_numpy().tolist() == [
        [42, "repeat", "42-repeat"],
        [42, "nudge", "42-nudge"],
    ]
    assert [len(actlab.load("made-up", kind)[0]) for kind in tables.KINDS] == [3, 3, 0, 0, 3, 9]
    assert set(actlab.load("made-up", kind="perturbed")[1]) >= {"first", "second", "churn"}
    with pytest.raises(UnknownName, match="unknown kind 'floors': did you mean 'floor'"):
        actlab.load("made-up", kind="floors")
    grids.save(defect, study="defects")
    with pytest.raises(BadInput, match=r"has only runs of the kind defective: load\('defects', 'defective'\)"):
        actlab.load("defects")


@pytest.mark.parametrize("study", ["repro-lite", "extreme"])
def test_the_shown_pattern_gives_the_records_averages(committed, study):
    """``pairs.groupby(...)[metric].mean()``, as the guide shows it, beside the averages in the JSON."""
    trials, pairs = actlab.load(study)
    found = pairs.groupby(["model", "activation"])["total_variation"].mean()
    losses = trials.groupby(["model", "activation"])["val_loss"].mean()
    records = [json.loads(path.read_text()) for path in (paths.ROOT / "results" / study).glob("*.json")]
    main = {(r["model_name"], r["activation"]): r for r in records if r["kind"] == "trials"}
    assert found.to_dict() == pytest.approx({cell: r["avg_total_variation"] for cell, r in main.items()})
    assert losses.to_dict() == pytest.approx({cell: r["avg_val_loss"] for cell, r in main.items()})


def test_columns_are_there_and_numbers_where_every_run_diverged():
    """So that a notebook need not ask; of the other tables too."""
    grids.save(grids.record(status=dict.fromkeys(range(3), "diverged")))
    trials, pairs = actlab.load("made-up")
    assert trials["val_loss"].isna().all()
    assert (len(pairs), len(trials)) == (0, 3)
    for name in ("val_loss", "best_val_loss", "val_accuracy", "train_loss"):
        assert pd.api.types.is_float_dtype(trials[name])
    assert pairs.groupby(["first"])["total_variation"].mean().empty
    assert {"iteration", "total_variation"} <= {*actlab.load_pairs("made-up", of="along")}
    assert {"decay", "val_loss"} <= {*actlab.load_losses("made-up")}


def test_training_accuracy_is_what_the_record_has(committed):
    """Where a study evaluates windows of its training text; elsewhere there is no such column."""
    trials, _ = actlab.load("repro-full")
    there = {record["arm"]: record for record in grids.committed("repro-full") if record["kind"] == "trials"}
    relu = trials[(trials["model"] == "charlm") & (trials["activation"] == "relu")]
    (record,) = (one for one in there.values() if (one["model_name"], one["activation"]) == ("charlm", "relu"))
    assert relu["train_accuracy"].tolist() == [trial["training"]["val_accuracy"] for trial in record["trials"]]
    assert "train_accuracy" not in actlab.load("answer")[0]


def test_curves_and_the_other_blocks():
    """An evaluation a row; pairs along, of averages of one memory or several, of ensembles with their members."""
    record = grids.record()
    pair = record["reproducibility_metrics"][0]
    both = {**pair, "between": [["42", "43"], ["44"]]}
    of_both = {"size": 2, "iteration": 5, "pairs": [both], "losses": [{"of": ["42", "43"], "loss": 1.9}]}
    record |= {
        "trajectory": [{"iteration": 5, "trials": [], "pairs": [pair]}],
        "equal_compute": [of_both],
        "ensembles": {"2": [both]},
    }
    record["config"]["recipe"] |= {"iterations": 10}
    several = copy.deepcopy(record) | {"activation": "gelu", "arm": "charlm-gelu"}
    record["config"]["recipe"]["average"] = 0.99
    record["average"], record["trials"][0]["average"] = [pair], {"val_loss": 1.8, "val_accuracy": 41.0}
    several["average"] = {"0.9": [pair], "0.99": [pair]}
    several["trials"][0]["average"] = {name: {"val_loss": 1.7, "val_accuracy": 42.0} for name in ("0.9", "0.99")}
    grids.save(record, several)
    curves = actlab.load_curves("made-up")
    assert len(curves) == 2 * 3 * 3
    assert curves[curves["seed"] == 42].head(3)["iteration"].tolist() == [0, 5, 10]
    along = actlab.load_pairs("made-up", of="along")
    assert along.groupby("iteration").size().to_dict() == {5: 2, 10: 6}
    for table in (actlab.load_pairs("made-up", of="average"), actlab.load_losses("made-up")):
        assert table.groupby("activation")["decay"].apply(list).to_dict() == {"relu": [0.99], "gelu": [0.9, 0.99]}
    for of in ("ensembles", "equal_compute"):
        found = actlab.load_pairs("made-up", of=of).iloc[0]
        assert (found["size"], found["first"], found["second"]) == (2, ("42", "43"), ("44",))


def test_every_column_says_unit_and_meaning():
    """No column of either table is undocumented, and the order is the document's."""
    grids.save(grids.record())
    for table in actlab.load("made-up"):
        known = [name for name in tables.COLUMNS if name in table]
        assert list(table) == known
    assert all(unit and meaning for unit, meaning in tables.COLUMNS.values())


def test_what_cannot_be_read_is_named():
    """An unknown study lists those that there are; one without trials is not among them; a record of another shape is
    named."""
    grids.save(grids.record())
    grids.save({"kind": "performance"}, study="speed")
    for name in ("nothing", "speed", "../made-up"):
        with pytest.raises(UnknownName, match=r"unknown study with trials '.*' in .*results: .*known are made-up$"):
            actlab.load(name)
    grids.save(changed(grids.record(model="convlm"), ["trials"], DROP))
    with pytest.raises(RecordError, match="trials: Field required"):
        actlab.load("made-up")
