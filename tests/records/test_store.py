"""Records on disk: checked on reading, never rewritten."""

import grids
import pytest

from actlab import paths
from actlab.errors import DamagedFile, RecordError
from actlab.records import store

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
    assert [record["arm"][0] for record in store.load_study("toy")] == ["a", "b", "c"]


def test_a_damaged_record_is_refused_and_its_study_is_listed():
    path = grids.saved(grids.record(), "toy")
    path.write_text(path.read_text().replace("2.1", "2.2"))
    assert store.studies() == ["toy"]
    with pytest.raises(DamagedFile, match="it was changed after it was written"):
        store.load_study("toy")
