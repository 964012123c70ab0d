"""What commands print for programs: strict JSON."""

import json
import re

import nbformat
import pytest
import tiny
import yaml

from actlab import paths

pytestmark = pytest.mark.usefixtures("toy")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A params file of two arms in the current folder."""
    monkeypatch.chdir(tmp_path)
    settings = tiny.STUDY | {"study": "small", "model": "charlm", "activation": ["relu", "gelu"]}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(settings))
    return "small.yaml"


def said(capsys, *words, code=0):
    """(what is printed, what stands on the screen of errors)."""
    assert tiny.typed(*words) == code
    found = capsys.readouterr()
    return found.out, found.err


def strict(text):
    """JSON as other languages read it."""
    return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def documented():
    """Command -> the keys that the guide's table says."""
    cells = nbformat.read(paths.ROOT / "notebooks" / "running.ipynb", 4).cells
    table = "\n".join(cell.source for cell in cells).split("\n### JSON for programs\n")[1].split("\n### ")[0]
    rows = re.findall(r"^\| `actlab ([^`]*)` \| [^|]* \| ([^|]*) \|", table, re.MULTILINE)
    return {command: re.findall(r"`(\w+)`", keys) for command, keys in rows}


def test_json_has_the_documented_keys(study, capsys):
    """Of every command that has it, also where a number is missing (one seed has no interval)."""
    keys = documented()
    assert [*keys] == ["status FILE", "report STUDY"]
    (before,) = strict(said(capsys, "status", study, "--json")[0])
    assert [*before] == keys["status FILE"]
    assert [arm["missing"] for arm in before["arms"]] == [2, 2]
    said(capsys, "run", study, "--workers", 1, "--trials", 1)
    report = strict(said(capsys, "report", "small", "--no-plots", "--json")[0])
    assert [*report] == keys["report STUDY"]
    assert all((paths.Path.cwd() / name).exists() for name in report["files"])
    assert None in {row["low"] for row in report["estimates"]}
