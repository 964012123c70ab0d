"""Records on disk: whole or not at all, checked on reading, never rewritten."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actlab import files, paths
from actlab.errors import RecordError
from actlab.records import store

RECORD = {
    "model_name": "charlm",
    "loss": 1.5,
    "nan": math.nan,
    "inf": [math.inf, -math.inf],
    "nested": {"b": [1, None, True], "a": "é\n"},
}
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats()
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.fixture
def path() -> Path:
    return store.path_of("toy", "charlm-gelu-0123456789")


def test_round_trip(path: Path) -> None:
    """What is read is what was written, NaN and infinities included, and the checksum."""
    assert store.save(path, RECORD) == path
    read = store.load(path)
    assert repr({key: read[key] for key in RECORD}) == repr(RECORD)
    assert set(read) == {*RECORD, "checksum"}


@given(
    content=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5), values, max_size=4
    )
)
def test_checksum_survives_json(content: dict[str, object]) -> None:
    """Any plain record has the same checksum before and after a trip through JSON text."""
    assert store.checksum(json.loads(json.dumps(content))) == store.checksum(content)


def test_checksum_ignores_order_and_itself() -> None:
    """Keys in another order, or a checksum already there, change nothing; any other change does."""
    assert (
        store.checksum(dict(reversed(RECORD.items())))
        == store.checksum(RECORD)
        == store.checksum({**RECORD, "checksum": "x"})
    )
    assert store.checksum({**RECORD, "loss": 1.5000000000000002}) != store.checksum(RECORD)
    assert store.checksum({**RECORD, "nan": 0.0}) != store.checksum(RECORD)


@pytest.mark.parametrize(
    ("old", "new"), [("1.5", "1.4"), ("NaN", "0.0"), ("true", "false"), ('"charlm"', '"convlm"'), ("charlm", "charlm ")]
)
def test_tampering_is_noticed(path: Path, old: str, new: str) -> None:
    """One changed number, word or status makes the file unreadable, with both checksums in the message."""
    store.save(path, RECORD)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(
        RecordError, match=r"was changed after it was written: expected checksum [0-9a-f]{64}, found [0-9a-f]{64}\)"
    ):
        store.load(path)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "{}", '"text"', '{"loss": 1}'])
def test_a_file_that_is_no_record_is_refused(path: Path, content: str) -> None:
    """Not JSON, not a mapping, or without checksum: an error with the file's name."""
    path.parent.mkdir(parents=True)
    path.write_text(content)
    with pytest.raises(RecordError, match=r"charlm-gelu-0123456789\.json"):
        store.load(path)


def test_every_truncation_is_noticed(path: Path) -> None:
    """A record cut anywhere before its closing brace cannot be read."""
    store.save(path, RECORD)
    whole = path.read_bytes()
    for length in range(0, len(whole) - 2, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(RecordError):
            store.load(path)


def test_missing_and_binary_files(path: Path) -> None:
    """A missing file and one that is not text are record errors too."""
    with pytest.raises(RecordError, match="cannot be read as a record"):
        store.load(path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(RecordError, match="cannot be read as a record"):
        store.load(path)


def test_a_result_is_never_rewritten(path: Path) -> None:
    """Saving the same record again is harmless, a different one is refused, and the file stays as it was."""
    store.save(path, RECORD)
    before = path.read_bytes()
    store.save(path, RECORD)
    with pytest.raises(RecordError, match="holds a different result; move it away"):
        store.save(path, {**RECORD, "loss": 1.4})
    assert path.read_bytes() == before


def test_a_damaged_record_is_not_overwritten(path: Path) -> None:
    """Saving over a file that cannot be trusted is refused as well."""
    store.save(path, RECORD)
    path.write_text("{")
    with pytest.raises(RecordError, match="cannot be read"):
        store.save(path, RECORD)
    assert path.read_text() == "{"


def test_writing_is_atomic(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception before the last step leaves neither a record nor a temporary file."""

    def fail(*args: object) -> None:
        raise OSError("disk full")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(files.os, step, fail)
            with pytest.raises(OSError, match="disk full"):
                store.save(path, RECORD)
        assert list(path.parent.iterdir()) == []


def test_a_value_that_json_does_not_know_is_refused(path: Path) -> None:
    """An object is not silently turned into its name."""
    with pytest.raises(TypeError, match="not JSON serializable"):
        store.save(path, {"loss": object()})
    assert not path.exists()


def test_load_study() -> None:
    """All records of a study in the order of their names; nothing for a study without results; other files are left
    alone."""
    assert store.load_study("toy") == []
    for name in ("b", "a", "c"):
        store.save(store.path_of("toy", name), {"arm": name})
    (paths.results() / "toy" / "summary.txt").write_text("no record")
    store.save(store.path_of("other", "d"), {"arm": "d"})
    assert [record["arm"] for record in store.load_study("toy")] == ["a", "b", "c"]


def test_a_page_reads_the_studies_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one is an error, with or without records: the page would not follow them."""
    monkeypatch.setenv(store.READS, "toy more")
    assert store.load_study("toy") == store.load_study("more") == store.load_replays("toy") == []
    for read in (store.load_study, store.load_replays, lambda study: store.path_of(study, "arm")):
        with pytest.raises(
            RecordError, match=r"the page reads results/mo, but its entry in book/pages.yaml names only: toy more"
        ):
            read("mo")
    monkeypatch.setenv(store.READS, "")
    with pytest.raises(RecordError, match="names only: nothing"):
        store.load_study("toy")


def test_records_are_readable_text(path: Path) -> None:
    """A record is indented JSON that ends in a line end, so that a diff of two shows what differs."""
    text = store.save(path, RECORD).read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert len(text.splitlines()) > len(RECORD)
    assert "\r" not in path.read_bytes().decode()
