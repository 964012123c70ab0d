"""The section on a study of one's own runs as it is printed: its files are written, its commands typed, its Python
run."""

import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from actlab import paths
from actlab.records import store

BLOCK = re.compile(r"^```(python|yaml|bash|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = {"my_parts.py": "python", "my-study.yaml": "yaml"}
"""File that the reader is told to write -> the first block of this language after its name is its content."""


def words(text):
    return " ".join(text.split())


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
    own = {"ACTLAB_RESULTS": str(tmp_path / "results"), "ACTLAB_CACHE": str(tmp_path / "cache"), "COLUMNS": "160"}
    here = {
        **os.environ,
        **own,
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(paths.ROOT / "lib"),
    }
    waiting, said = dict(FILE), ""
    for match in BLOCK.finditer(page):
        language, text = match.groups()
        file = next((f for f, kind in waiting.items() if kind == language and f"`{f}`" in page[: match.start()]), None)
        if file is not None:
            (tmp_path / file).write_text(text)
            del waiting[file]
        elif language == "bash":
            for line in text.replace("\\\n", "").splitlines():
                done = subprocess.run(
                    line, shell=True, cwd=tmp_path, env=here, capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
                said += done.stdout
        elif language == "python":
            done = subprocess.run(
                [sys.executable, "-c", text], cwd=tmp_path, env=here, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            assert "two runs differ by 0." in done.stdout
        else:
            assert [line for line in text.splitlines() if words(line) not in words(said)] == []
    assert waiting == {}
    check_results(tmp_path)


def check_results(folder):
    """Four arms of two trials, then of four, of which two are the same bits; the own metric in the table; every study
    has records."""
    records = [
        store.load(path)
        for path in (folder / "results" / "my-study").glob("*-*.json")
        if not path.name.startswith("baseline")
    ]
    arms = {}
    for record in records:
        hashes = [trial["weights_sha256"] for trial in record["trials"]]
        arms.setdefault((record["model_name"], record["activation"]), {})[len(hashes)] = hashes
    assert set(arms) == {(model, activation) for model in ("charlm", "baglm") for activation in ("relu", "squareplus")}
    assert all(set(sizes) == {2, 4} and sizes[4][:2] == sizes[2] for sizes in arms.values())
    with (folder / "out" / "my-study" / "pairs.csv").open() as file:
        assert all(0 <= float(row["top3"]) <= 1 for row in csv.DictReader(file))
    for study in ("mine-quick", "my-page", "my-session"):
        assert list((folder / "results" / study).glob("*squareplus*.json"))
