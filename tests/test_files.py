"""Files whole or not at all: what killed processes left goes, what others are writing stays, and damaged files are
moved and made again."""

import io
import os
import platform
import subprocess
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest

from actlab import paths
from actlab.errors import BadInput, DamagedFile, DiskError
from actlab.files import in_csv, mending, parse_yaml, read_bytes, replacing, set_aside, write_text


def working_file(path, process):
    work = path.with_name(f".{path.name}.{platform.node()}.{process}")
    work.write_text("half")
    return work


def test_what_a_dead_process_left_is_removed(tmp_path):
    """Whatever file it was writing, and only where the process is no more; another machine's process cannot be
    asked."""
    path = tmp_path / "a.json"
    ended = subprocess.Popen("true")
    ended.wait()
    dead = [working_file(tmp_path / name, ended.pid) for name in ("a.json", "b.checkpoint")]
    kept = [working_file(path, process) for process in (os.getppid(), "text")]
    elsewhere = tmp_path / f".a.json.elsewhere.{ended.pid}"
    elsewhere.write_text("half")
    write_text(path, "whole")
    assert not any(file.exists() for file in dead)
    assert all(file.exists() for file in [*kept, elsewhere])
    assert path.read_text() == "whole"


def test_a_folder_is_listed_once_however_many_files_are_written(tmp_path, monkeypatch):
    """Time grows with the files, not with their square."""
    listed = Mock(side_effect=os.listdir)
    monkeypatch.setattr("actlab.files.os.listdir", listed)
    for name in "abc":
        write_text(tmp_path / name, "whole")
    assert listed.call_count == 1


def test_a_failed_write_leaves_the_old_file(tmp_path):
    """One sentence with path, bytes, the system's reason and the way out."""
    path = write_text(tmp_path / "a", "old")
    said = r"cannot write .*/a \(5 bytes\): full after 4.*make room or choose another folder"
    with pytest.raises(DiskError, match=said), replacing(path, 5) as work:
        raise OSError(f"full after {work.write_text('half')}")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a", "old")]


def test_what_is_set_aside_stays(tmp_path):
    """A second damaged file of the same name does not take the place of the first."""
    places = [set_aside(write_text(tmp_path / "a", content)) for content in ("one", "two", "three")]
    assert [(place.name, place.read_text()) for place in places] == [("a", "one"), ("a.2", "two"), ("a.3", "three")]
    assert {place.parent for place in places} == {tmp_path / "set-aside"}


def test_mending(tmp_path, caplog):
    """Each damaged file is set aside with a warning; the result is that of the call that met none."""
    files = [write_text(tmp_path / name, "damaged") for name in "ab"]

    def make():
        for file in filter(Path.exists, files):
            raise DamagedFile(file, "cut")
        return "made"

    assert mending(make) == "made"
    assert [said.partition(";")[0] for said in caplog.messages] == [f"{file} is damaged (cut)" for file in files]


def test_no_cell_of_a_table_is_a_formula():
    """Text that begins as one does is told from a number, also in a column's name; numbers and other text stay."""
    formulas = ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "-1+2", "\t=1", "-"]
    formulas += ["\n=1", "\uff1d1+1", "\u00a0=1", "\ufeff=1", " @x"]
    kept = ["-0.5", "+1e-3", "-inf", "x=1", "a,b", "charlm-relu", ""]
    table = pd.DataFrame({"=name": [*formulas, *kept], "n": -1.5})
    read = pd.read_csv(io.StringIO(in_csv(table, index=False)), dtype=str, keep_default_na=False)
    assert read["'=name"].tolist() == [*(f"'{text}" for text in formulas), *kept]
    assert "'\\x00=1" in in_csv(pd.DataFrame({"a": ["\0=1"]}))
    assert "\\x1b]0;own" in in_csv(pd.DataFrame({"a": ["\x1b]0;own\a"]}))
    assert read["n"].unique().tolist() == ["-1.5"]


def test_a_path_that_no_file_has_is_refused():
    """One that holds a NUL; one whose bytes are no UTF-8, which no record could hold."""
    with pytest.raises(BadInput, match=r"'a\\x00b' is no params file: a path holds no NUL"):
        read_bytes(Path("a\0b"), "params file")
    for name in ("a\0b", os.fsdecode(b"\xff.txt")):
        with pytest.raises(BadInput, match="leads nowhere") as fault:
            paths.located(name)
        assert str(fault.value).isprintable()


@pytest.mark.parametrize("text", ["{a: 1, <<: {a: 2}}", "{<<: [{a: 1}, {a: 2}]}"])
def test_merged_mappings_are_refused(text):
    """Of two values of one key YAML would keep one without a word."""
    with pytest.raises(BadInput, match=r"mine.yaml is not YAML: line 1, column .* << merges mappings"):
        parse_yaml(f"per_arm: {text}", "mine.yaml")
    assert parse_yaml("'<<': 1", "") == {"<<": 1}


@pytest.mark.parametrize("text", ["010", "1:30", "1_000", "0x10", "1:30.5", "[-007]"])
def test_a_number_that_is_not_what_it_looks_like_is_refused(text):
    """To YAML 010 is 8 and 1:30 is 90; plain numbers are what they are."""
    with pytest.raises(BadInput, match=r"mine.yaml is not YAML: line 1, column .* is no plain number"):
        parse_yaml(f"trials: {text}", "mine.yaml")
    assert parse_yaml("[0, 10, -3, 0.05, 1.0e-3, .inf, 0.0, +4]", "") == [0, 10, -3, 0.05, 1e-3, float("inf"), 0.0, 4]
