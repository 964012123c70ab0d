"""The tidy tables: one row a trial, one a pair, the records' own numbers, every column documented; read without
torch."""

import pytest
from tests.support import grids

import actlab
from actlab.errors import BadInput, RecordError
from actlab.records import store, tables


def test_rows_are_the_records_own():
    """Every trial and every pair once, with its numbers; what a diverged trial has not measured stays empty."""
    record, floor = grids.record(status={2: "diverged"}), grids.floor()
    for name, one in (("charlm-relu", record), ("charlm-relu-floor", floor)):
        store.save(store.path_of("made-up", name), one)
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
    store.save(store.path_of("made-up", "charlm-relu"), grids.record())
    for table in actlab.load("made-up"):
        known = [name for name in tables.COLUMNS if name in table]
        assert list(table) == known
    assert all(unit and meaning for unit, meaning in tables.COLUMNS.values())


def test_what_cannot_be_read_is_named():
    """An unknown study lists those that there are; one without trials is not among them; a record of another shape is
    named."""
    store.save(store.path_of("made-up", "charlm-relu"), grids.record())
    store.save(store.path_of("speed", "x"), {"kind": "performance", "study": "speed"})
    for name in ("nothing", "speed", "../made-up"):
        with pytest.raises(BadInput, match=r"has no records with trials: studies that have are made-up$"):
            actlab.load(name)
    lacking = {key: value for key, value in grids.record().items() if key != "trials"}
    store.save(store.path_of("made-up", "lacking"), lacking)
    with pytest.raises(RecordError, match="trials: Field required"):
        actlab.load("made-up")
