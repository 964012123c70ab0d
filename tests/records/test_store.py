"""Records on disk: checked on reading, never rewritten."""

from unittest.mock import Mock

import grids
import pytest
from damage import changed

import actlab
from actlab import paths
from actlab.errors import DamagedRecord, RecordError
from actlab.records import kept, store
from actlab.study.replay import recorded_trials

RECORD = {
    "kind": "performance",
    "study": "toy",
    "model_name": "charlm",
    "loss": 1.5,
    "nested": {"b": [1, None, True], "a": "é\n"},
}


@pytest.fixture
def path():
    return store.path_of("toy", "charlm-gelu-0123456789")


def test_round_trip(path):
    """What is read is what was written, and the checksum."""
    assert store.save(path, RECORD) == path
    read = store.load(path)
    assert repr({key: read[key] for key in RECORD}) == repr(RECORD)
    assert set(read) == {*RECORD, "checksum"}


def test_a_result_is_never_rewritten(path):
    """Saving the same record again is harmless, a different one is refused, and the file stays as it was."""
    store.save(path, RECORD)
    before = path.read_bytes()
    store.save(path, RECORD)
    with pytest.raises(RecordError, match="holds a different result; move it away"):
        store.save(path, {**RECORD, "loss": 1.4})
    assert path.read_bytes() == before


def test_a_damaged_record_is_not_overwritten(path):
    """Saving over a file that cannot be trusted is refused as well."""
    store.save(path, RECORD)
    path.write_text("{")
    with pytest.raises(RecordError, match="cannot be read"):
        store.save(path, RECORD)


def test_load_study():
    """All records of a study in the order of their names; nothing for a study without results; other files are left
    alone."""
    assert store.load_study("toy") == []
    for name in ("b", "a", "c"):
        grids.save(grids.record() | {"arm": name}, study="toy")
    (paths.results() / "toy" / "summary.txt").write_text("no record")
    store.save(store.path_of("other", "d"), {"arm": "d"})
    assert [record["arm"][0] for record in store.load_study("toy")] == ["a", "b", "c"]


def test_a_hidden_file_is_no_record(monkeypatch):
    """macOS leaves ``._x.json`` beside every file of a foreign disk: such a study is whole, is listed, replayed
    and reported, and a folder that holds nothing else is no study."""
    file = grids.saved(grids.record(), "toy")
    empty = store.path_of("empty", "x")
    for folder in (file.parent, empty.parent, store.replays_of(file)):
        folder.mkdir(parents=True, exist_ok=True)
        for name in (f"._{file.name}", ".DS_Store"):
            (folder / name).write_bytes(b"\0\5\x16\7Mac OS X")
    assert store.studies() == ["toy"]
    assert [record["arm"] for record in store.load_study("toy")] == [file.stem]
    assert store.set_damaged_aside("toy") == store.load_replays("toy") == []
    assert len(recorded_trials()) == 3
    monkeypatch.setattr(kept, "LARGE", 0)
    assert len(actlab.load("toy")[0]) == 3


def test_a_large_study_is_read_once(monkeypatch):
    """However often it is asked for, as a report asks for each of its tables."""
    for number in range(600):
        path = store.path_of("toy", f"one-{number}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    read = Mock(side_effect=lambda path: {"kind": "performance", "study": "toy"})
    monkeypatch.setattr(store, "load", read)
    assert len(store.load_study("toy")) == len(store.load_study("toy")) == 600
    assert read.call_count == 600


ARM = grids.identified(grids.record(), "toy")
REPLAY = {
    **{"kind": "replay", "study": "toy", "arm": ARM["arm"], "trial": "42", "record_checksum": "", "equal": True},
    **{"compared": [], "differs": [], "changed": []},
}


def test_a_record_is_the_one_that_its_file_says():
    """Under another arm's name, with settings of another hash, in another study's folder, a replay beside another's
    record: refused with both names, and set aside by ``set_damaged_aside``."""
    path, gelu = store.path_of("toy", ARM["arm"]), store.path_of("toy", "charlm-gelu-0123456789")
    wrong = {
        gelu: (ARM, f"it is the record of '{ARM['arm']}', not of 'charlm-gelu-0123456789'"),
        path: (
            changed(ARM, ["config", "more"], 1),
            f"the name of '{ARM['arm']}' does not end in [0-9a-f]{{10}}, the ha",
        ),
        store.path_of("other", ARM["arm"]): (ARM, "it is a record of the study 'toy', not of 'other'"),
        store.replays_of(gelu) / "42.json": (REPLAY, f"it is the record of '{ARM['arm']}', not of 'charlm-gelu-01"),
    }
    for place, (record, said) in wrong.items():
        store.save(place, record)
        with pytest.raises(DamagedRecord, match=said):
            store.load(place)
    assert {aside.name for aside in store.set_damaged_aside("toy")} == {path.name, gelu.name}
    store.save(path, ARM)
    store.save(store.replays_of(path) / "42.json", REPLAY)
    assert store.load_study("toy")
    with pytest.raises(DamagedRecord):
        store.load_replays("toy")
    (store.replays_of(gelu) / "42.json").unlink()
    assert len(store.load_replays("toy")) == 1
