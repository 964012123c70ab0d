"""The section on a study of one's own runs as it is printed: its files are written, its commands typed, its Python
run."""

import os
import re
import shlex
import sys
from itertools import pairwise, product
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from papermill import inspect_notebook
from tiny import ran, typed

from actlab import paths
from actlab.records import store
from actlab.study.after import replay
from actlab.study.workers import pool

BLOCK = re.compile(r"^```(python|yaml|bash|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(
    r"(?:^|`|Command: )((?:actlab (?:run|status|report|compare|sample|replay|list|data list)|papermill) [^`\n#]*)", re.M
)
PLACEHOLDER = re.compile(r"\b[A-Z]{4,}\b(?!:)")


def prose(path):
    """What a reader sees of a page, long commands in one line."""
    if path.suffix == ".ipynb":
        text = "\n".join(cell.source for cell in nbformat.read(path, 4).cells if cell.cell_type == "markdown")
    else:
        text = path.read_text(encoding="utf-8")
    return text.replace("\\\n", " ")


def pages():
    places = "README.md", "CONTRIBUTING.md", "notebooks/*.ipynb", "book/*.md", "params/*.yaml"
    return [path for place in places for path in sorted(paths.ROOT.glob(place))]


FILES = {"python": "own_parts.py", "yaml": "my-study.yaml"}
"""Language -> the file that its first block in the guide is."""


def written(folder):
    """The files that the pages name and those that the guide tells to write, in a reader's folder; its other blocks."""
    for name in ("params", "notebooks", "README.md"):
        (folder / name).symlink_to(paths.ROOT / name)
    guide = prose(paths.ROOT / "notebooks" / "running.ipynb").split("\n## A study of your own\n")[1].split("\n## ")[0]
    blocks = BLOCK.findall(guide)
    first = dict(reversed(blocks))
    for language, file in FILES.items():
        (folder / file).write_text(first[language])
    return [(language, text) for language, text in blocks if language not in FILES or text != first[language]]


@pytest.fixture
def reader(tmp_path, monkeypatch, toy, no_own_parts):
    """A folder of a reader who has come so far: the files that the pages tell to write; the committed records, and
    those of my-study, own-quick and mine-quick. What would train for long is asked for and not done."""
    (tmp_path / "results").mkdir()
    committed = (paths.git("ls-files", "results") or "").splitlines()
    for name in {Path(file).parts[1] for file in committed}:  # what somebody trained here is not theirs, nor written to
        (tmp_path / "results" / name).symlink_to(paths.ROOT / "results" / name)
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    for file, study in (("first.yaml", "own-quick"), ("second.yaml", "second")):
        Path(file).write_text(Path("my-study.yaml").read_text().replace("my-study", study))
    for file in ("my-study.yaml", "first.yaml"):
        assert typed("run", file, "--workers", 1, "--model", "charlm", "--max-iters", 2) == 0
    tuning = "tuning={rates: [0.004, 0.016], seeds: [900], least: 0.004, most: 0.016}"
    small = ("--set", "study=mine-tuning", "--set", "model=charlm", "--set", "activation=shifted_softplus")
    small = (*small, "--max-iters", 2)
    assert typed("run", "my-study.yaml", "--workers", 1, "--set", tuning, *small) == 0
    Path("my_parts.py").write_text(dict(BLOCK.findall(prose(paths.ROOT / "README.md")))["python"])
    mine = ("--plugin", "my_parts.py", "--set", "study=mine-quick", "--set", "activation=[relu,squareplus]")
    assert typed("run", "params/repro-quick.yaml", *mine, "--workers", 1, "--model", "charlm", "--max-iters", 2) == 0
    done = replay.Replay("replayed", {"equal": True})
    monkeypatch.setattr(pool, "run_tasks", lambda function, tasks, *_: [(task, done) for task in tasks])


@pytest.mark.slow
@pytest.mark.data("tinyshakespeare/input.txt")
def test_every_command_that_a_page_shows_is_understood(reader, subtests):
    """As typed in README, pages and params files: its files, studies, records, options and parameters are there, and it
    ends well. `run` says what it would train."""
    told = dict.fromkeys(" ".join(line.split()) for path in pages() for line in COMMAND.findall(prose(path)))
    lines = [re.sub(r"(;| \().*", "", line) for line in told if not PLACEHOLDER.search(line)]
    assert len(lines) > 90
    for line in lines:
        program, *rest = shlex.split(line)
        with subtests.test(line=line):
            if program == "actlab":
                own = [] if "--plugin" in rest else ["--plugin", "own_parts.py"]
                more = ["--dry-run", *own] if rest[0] == "run" else []
                assert typed(*rest, *more) == 0
                continue
            known = inspect_notebook(rest[0])
            assert {name for option, name in pairwise(rest) if option == "-p"} <= {*known}
            assert all(Path(file).exists() for option, file in pairwise(rest) if option == "-f")


@pytest.mark.data("tinyshakespeare/input.txt")
def test_every_block_of_python_runs(reader):
    """In the order of the pages; but for the parts themselves, and a cluster."""
    told = prose(paths.ROOT / "README.md") + prose(paths.ROOT / "notebooks" / "running.ipynb")
    blocks = [text for language, text in BLOCK.findall(told) if language == "python"]
    ran = [exec(text, {}) for text in blocks if not text.startswith(("import torch", "from dask_jobqueue"))]
    assert len(ran) == 3


@pytest.mark.slow
def test_the_guide_runs_as_typed(tmp_path):
    """Own activation, model, text and metric in one file, on two workers, reported and grown; no file of the library is
    touched."""
    own = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(paths.ROOT / "lib")}
    here, said = {"cwd": tmp_path, "env": os.environ | own | {"COLUMNS": "160"}}, ""
    for language, text in written(tmp_path):
        if language == "bash":
            said += "".join(ran(line, shell=True, **here).stdout for line in text.splitlines())
        elif language == "python":
            assert "two runs differ by 0." in ran([sys.executable, "-c", text], **here).stdout
        else:
            assert " ".join(text.split()) in " ".join(said.split())  # whole: neither a line more nor one less
    grown = [store.load(path) for path in (tmp_path / "results" / "my-study").glob("*-*-*.json")]
    sizes = [(each["model_name"], each["activation"], len(each["trials"])) for each in grown if "trials" in each]
    assert sorted(sizes) == [*product(("baglm", "charlm"), ("relu", "shifted_softplus"), (2, 4))]
    assert pd.read_csv(tmp_path / "out" / "my-study" / "pairs.csv")["top3"].between(0, 1).all()
