"""The command line: any words end in a code of 0, 1 or 2, with at most a sentence, and write nothing outside the named
folders."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import typed

DOOR = "command line"
PARAMS = """
study: x
model: nanotransformer
activation: relu
trials: 1
iterations: 1
batch_size: 1
noise_floor: false
"""
COMMANDS = "run report replay data book list get tokenize"
OPTIONS = """--help --model --models --activation --trials --workers --out --no-plots --vocab-size
--scheduler --redo-damaged --"""
VALUES = "FILE nowhere.yaml relu rleu 0 -1 1.5 nan pydoc ../.. / [bold]é[/]"
kinds = [st.sampled_from(words.split()) for words in (COMMANDS, OPTIONS, VALUES)]
words = st.lists(st.one_of(*kinds, st.text(max_size=6)), max_size=6)


@pytest.fixture
def quiet(monkeypatch, tmp_path, data_folder):
    """Nothing is trained, downloaded, tokenized or built: what is tried is the way there. Returns a params file."""
    stand_in = type("Outcome", (), {"present": [], "failed": []})()
    monkeypatch.setattr("actlab.study.run.run", lambda *args, **kwargs: stand_in)
    monkeypatch.setattr("actlab.data.tokenize.tokenize_dataset", lambda *args, **kwargs: {"vocab_size": 1})
    monkeypatch.setattr("actlab.book.build.build_book", lambda *asked: Path("index.html"))
    file = tmp_path / "study.yaml"
    file.write_text(PARAMS)
    return file


@pytest.fixture
def here(tmp_path_factory, monkeypatch):
    """An empty folder of work in an empty folder."""
    folder = tmp_path_factory.mktemp("watched") / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@given(words=words)
def test_any_words(words, quiet, here, capsys, door):
    given_words = [word for word in words if not word.isdecimal() or len(word) < 6]
    code = typed(*[str(quiet) if word == "FILE" else word.replace("\0", "") for word in given_words])
    said = capsys.readouterr()
    assert code in (0, 1, 2)
    assert "Traceback" not in said.out + said.err
    assert code == 0 or said.err.strip() or said.out.strip()
    assert list(here.parent.rglob("*")) == [here]
    door.tried(code == 0)


ways_out = st.sampled_from(["../x", "../../etc", "/tmp/x", "a/../../b", ".", "..", "~", "study/", "//"])


@given(study=ways_out | st.text(max_size=12))
def test_a_study_is_a_name(study, here, capsys, door):
    """``report`` writes below ``out``: a name that leads elsewhere has no records."""
    assert typed("report", "--", study.replace("\0", "")) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert list(here.parent.rglob("*")) == [here]
    door.tried(False)
