"""The section on a study of one's own runs as it is printed: its files are written, its commands typed, its Python
run."""

import json
import os
import re
import shlex
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pandas as pd
import pytest
from tiny import ran, typed

from actlab import paths
from actlab.records import store

BLOCK = re.compile(r"^```(python|yaml|bash|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = {"my_parts.py": "python", "my-study.yaml": "yaml"}
"""File that the reader is told to write -> the first block of this language after its name is its content."""


def words(text):
    return " ".join(text.split())


@pytest.mark.data("tinyshakespeare/input.txt")
def test_commands_of_the_readme_that_train_nothing(committed, tmp_path, monkeypatch, subtests):
    """As typed, in a folder with params, on the recorded studies."""
    (tmp_path / "params").symlink_to(paths.ROOT / "params")
    monkeypatch.chdir(tmp_path)
    readme = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall("^actlab (?:status|report|sample|data|list).*", readme, re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        with subtests.test(line=line):
            assert typed(*shlex.split(line, comments=True)[1:]) == 0
    assert (tmp_path / "out" / "repro-lite" / "summary.txt").stat().st_size


@pytest.mark.slow
def test_the_guide_runs_as_typed(tmp_path):
    """Own activation, model, text and metric in one file, on two workers, reported and grown; no file of the library is
    touched."""
    cells = json.loads((paths.ROOT / "notebooks" / "running.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells)
    page = text.split("\n## A study of your own\n")[1].split("\n## ")[0]
    for name in ("params", "notebooks", "README.md"):
        (tmp_path / name).symlink_to(paths.ROOT / name)
    tools = str(Path(sys.executable).parent)
    own = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(paths.ROOT / "lib")}
    here = os.environ | own | {"COLUMNS": "160"}
    waiting, said = dict(FILE), ""
    for match in BLOCK.finditer(page):
        language, text = match.groups()
        file = next((f for f, kind in waiting.items() if kind == language and f"`{f}`" in page[: match.start()]), None)
        if file is not None:
            (tmp_path / file).write_text(text)
            del waiting[file]
        elif language == "bash":
            for line in text.replace("\\\n", "").splitlines():
                said += ran(line, shell=True, cwd=tmp_path, env=here).stdout
        elif language == "python":
            assert "two runs differ by 0." in ran([sys.executable, "-c", text], cwd=tmp_path, env=here).stdout
        else:
            assert [line for line in text.splitlines() if words(line) not in words(said)] == []
    assert waiting == {}
    check_results(tmp_path)


def check_results(folder):
    """Arms of two trials and, grown, of four; the own metric in the table; every study has records."""
    grown = [store.load(path) for path in (folder / "results" / "my-study").glob("*-*-*.json")]
    sizes = Counter((each["model_name"], each["activation"], len(each["trials"])) for each in grown if "trials" in each)
    assert sizes == Counter(product(("charlm", "baglm"), ("relu", "squareplus"), (2, 4)))
    top3 = pd.read_csv(folder / "out" / "my-study" / "pairs.csv")["top3"]
    assert top3.between(0, 1).all()
    for study in ("mine-quick", "my-page", "my-session"):
        assert list((folder / "results" / study).glob("*squareplus*.json"))
