"""Tables that are kept in the cache are those that the records give, and go with the records."""

import copy

import grids
import pandas as pd
import pytest

import actlab
from actlab import paths
from actlab.errors import DamagedRecord
from actlab.records import kept, store, tables


@pytest.fixture
def large(monkeypatch):
    """Every study counts as large."""
    monkeypatch.setattr(kept, "LARGE", 0)


def a_record():
    """With pairs of ensembles, whose members are tuples."""
    made = grids.record(status={2: "diverged"})
    pair = made["reproducibility_metrics"][0]
    made["ensembles"] = {"2": [copy.deepcopy(pair) | {"between": [["42"], ["43"]]}]}
    return made


def test_a_kept_table_is_the_table(large, monkeypatch):
    """Values, types, order of columns and tuples; the second time nothing is read from the records."""
    grids.save(a_record(), grids.floor())
    read = [
        lambda: actlab.load("made-up", "all")[0],
        lambda: actlab.load("made-up", "all")[1],
        lambda: actlab.load_curves("made-up"),
        lambda: actlab.load_pairs("made-up", "ensembles"),
    ]
    first = [make() for make in read]
    monkeypatch.setattr(tables, "load_records", lambda study: pytest.fail("read again"))
    for table, make in zip(first, read, strict=True):
        pd.testing.assert_frame_equal(make(), table)
    assert actlab.load_pairs("made-up", "ensembles")["first"].tolist() == [("42",)]


def test_it_goes_with_the_records(large):
    """A further record is in the table; a damaged one is named; a damaged kept table is made again."""
    grids.save(a_record())
    assert len(actlab.load("made-up")[0]) == 3
    grids.save(grids.record(activation="gelu"))
    assert len(actlab.load("made-up")[0]) == 6
    for path in (paths.cache() / "tables").glob("*.json"):
        path.write_bytes(path.read_bytes()[:100])
    assert len(actlab.load("made-up")[0]) == 6
    for path in (paths.cache() / "tables").glob("*.json"):
        path.write_text(path.read_text().replace("2.1", "2.9"))  # a bit that flipped on the disk
    assert 2.9 not in actlab.load("made-up")[0]["val_loss"].tolist()
    for text in ("[]", "{}", "null"):
        for path in (paths.cache() / "tables").glob("*.json"):
            path.write_text(text)
        assert len(actlab.load("made-up")[0]) == 6
    path = next(store.folder_of("made-up").glob("*.json"))
    path.write_text(path.read_text().replace("2.1", "2.2"))
    with pytest.raises(DamagedRecord):
        actlab.load("made-up")
