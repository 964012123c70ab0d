"""Files are written whole or not at all; what a user wrote is read, or refused with its place."""

from unittest.mock import Mock

import pytest

from actlab.errors import BadInput, DiskError
from actlab.files import parse_yaml, read_text, write_text


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """One sentence with path, bytes, the system's reason and the way out."""
    path = write_text(tmp_path / "a", "old")
    monkeypatch.setattr("os.fsync", Mock(side_effect=OSError("full")))
    with pytest.raises(DiskError, match=r"cannot write .*/a \(3 bytes\): full.*make room or choose another folder"):
        write_text(path, "new")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a", "old")]


def test_a_key_that_comes_twice_is_refused():
    """YAML would keep the last without a word."""
    with pytest.raises(BadInput, match=r"mine.yaml is not YAML: line 2, column 3: it gives a more than once"):
        parse_yaml("b:\n  a: 1\n  a: 2", "mine.yaml")
    with pytest.raises(BadInput, match=r"mine.yaml is not YAML: line 2"):
        parse_yaml("a: [1", "mine.yaml")
    assert parse_yaml("a: [1, 0.5]", "") == {"a": [1, 0.5]}


def test_a_file_that_is_no_text(tmp_path):
    """The place is named; a Windows file's line ends are \\n."""
    (tmp_path / "a").write_bytes(b"a\r\nb\xff")
    with pytest.raises(BadInput, match=r"is not a text in UTF-8: .* byte 0xff in position 4"):
        read_text(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"a\r\nb")
    assert read_text(tmp_path / "a") == "a\nb"
