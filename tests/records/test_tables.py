"""The tidy tables: one row a trial, one a pair, the records' own numbers, every column documented; read without
torch."""

import grids
import pytest
from damage import DROP, changed

import actlab
from actlab.errors import BadInput, RecordError
from actlab.records import tables


def test_rows_are_the_records_own():
    """Every trial and every pair once, with its numbers; what a diverged trial has not measured stays empty."""
    grids.save(grids.record(status={2: "diverged"}), grids.floor())
    trials, pairs = actlab.load("made-up")
    main = trials[trials["kind"] == "trials"]
    assert main["val_loss"].tolist()[:2] == [2.0, 2.1]
    assert main["val_loss"].isna().tolist() == [False, False, True]
    assert main["status"].tolist() == ["done", "done", "diverged"]
    assert pairs[pairs["kind"] == "trials"][["first", "second", "churn"]].to_numpy().tolist() == [
        ["42", "43", pytest.approx(0.11)]
    ]
    assert set(pairs.loc[pairs["kind"] == "floor", "second"]) == {"42-repeat", "42-nudge"}


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
        with pytest.raises(BadInput, match=r"has no records with trials: studies that have are made-up$"):
            actlab.load(name)
    grids.save(changed(grids.record(model="convlm"), ["trials"], DROP))
    with pytest.raises(RecordError, match="trials: Field required"):
        actlab.load("made-up")
