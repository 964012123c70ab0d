"""What commands print for programs and for people: strict JSON, quiet and verbose runs, logs, the cache, completion."""

import json
import os
import re
import time
from datetime import UTC, datetime
from unittest.mock import Mock

import nbformat
import pytest
import tiny
import yaml
from typer.testing import CliRunner

from actlab import paths
from actlab.cli import app, run_log
from actlab.cli.cache import PARTS, files
from actlab.cli.options import console
from actlab.cli.results import LISTS, _catalogue
from actlab.study.cache import place_of
from actlab.study.run import read_params
from actlab.trainers import loop

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
    assert len(keys) == 6
    (before,) = strict(said(capsys, "status", study, "--json")[0])
    assert [*before] == keys["status FILE"]
    assert [arm["missing"] for arm in before["arms"]] == [2, 2]
    assert before["seconds_left"] > 0
    said(capsys, "run", study, "--workers", 1)
    said(capsys, "run", study, "--workers", 1, "--trials", 1, "--set", "study=other")
    (after,) = strict(said(capsys, "run", study, "--dry-run", "--json")[0])
    assert {*after["arms"][0]} == {
        *("arm", "trials", "recorded", "ended", "running", "failed", "missing", "diverged", "seconds")
    }
    assert (after["seconds_left"], after["arms"][1]["recorded"]) == (0, 2)
    report = strict(said(capsys, "report", "other", "--no-plots", "--json")[0])
    assert [*report] == keys["report STUDY"]
    assert all((paths.Path.cwd() / name).exists() for name in report["files"])
    assert None in {row["low"] for row in report["estimates"]}
    both = strict(said(capsys, "compare", "small", "other", "--json")[0])
    assert [*both] == keys["compare ONE OTHER"]
    assert {row["level"] for row in both["differences"]} == {"relu", "gelu"}
    for what in LISTS:
        for row in strict(said(capsys, "list", what, "--json")[0]):
            assert [*row] == keys["list fields" if what == "fields" else "list WHAT"]
    cache = strict(said(capsys, "cache", "--json")[0])
    assert [*cache] == keys["cache"]
    assert {row["part"] for row in cache["parts"]} == {*PARTS}


def test_what_can_be_listed_is_completed():
    """The names of the help are those of the table; a shell gets those of studies and commands."""
    assert {*LISTS} == {"fields", *_catalogue()}
    for words, wanted in (
        ("actlab list opt", "optimizers"),
        ("actlab rep", "report"),
        ("actlab run --dry", "--dry-run"),
    ):
        asked = {"_ACTLAB_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        assert wanted in CliRunner().invoke(app, [], env=asked, prog_name="actlab").output.split()


def test_completion_knows_the_recorded_studies(study):
    """Without any project it is silent."""
    tiny.typed("run", study, "--workers", 1)
    asked = {"_ACTLAB_COMPLETE": "complete_bash", "COMP_WORDS": "actlab report sm", "COMP_CWORD": "2"}
    assert CliRunner().invoke(app, [], env=asked, prog_name="actlab").output.split() == ["small"]


def test_quiet_verbose_and_the_log(study, capsys, monkeypatch):
    """-v a line a run, -q nothing; the log has every run, and its path is printed; nothing trained: no log, also in the
    second in which another run wrote one."""
    monkeypatch.setattr(run_log, "datetime", Mock(now=lambda _: datetime(2026, 6, 1, tzinfo=UTC)))
    out, _ = said(capsys, "run", study, "--workers", 1, "-v")
    assert len(re.findall(r"^charlm-(?:relu|gelu) 4[23]: loss \d", out, re.MULTILINE)) == 4
    log = paths.Path(re.search(r"^log: (.*)$", out, re.MULTILINE)[1])
    lines = log.read_text().splitlines()
    assert "actlab run small.yaml --workers 1 -v" in " ".join(lines[0].split())
    assert sum(": loss" in line for line in lines) == 6
    assert lines[-1].endswith("INFO ended")
    assert said(capsys, "run", study, "--workers", 1, "-q") == ("", "")
    assert said(capsys, "-q", "run", study, "--workers", 1, "--set", "study=more") == ("", "")
    assert "log:" not in said(capsys, "run", study, "--workers", 1)[0]
    assert "charlm-relu 42" not in said(capsys, "run", study, "--workers", 1, "--set", "seed=7")[0]
    assert "give one" in said(capsys, "run", study, "-q", "-v", code=2)[1]
    assert "--json says what --dry-run finds" in said(capsys, "run", study, "--json", code=2)[1]


def test_the_log_says_how_a_run_failed(study, capsys, monkeypatch):
    """A trial that raises, and a run that is interrupted."""
    monkeypatch.setattr(loop, "train", lambda *_, **__: 1 / 0)
    said(capsys, "run", study, "--workers", 1, code=1)
    (log,) = (paths.cache() / "logs").iterdir()
    assert "charlm-relu 42: failed: ZeroDivisionError: division by zero" in log.read_text()

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(loop, "train", interrupted)
    said(capsys, "run", study, "--workers", 1, "--set", "study=again", code=130)
    (log,) = (paths.cache() / "logs").glob("again-*")
    assert "ERROR ended by KeyboardInterrupt" in log.read_text()


def in_the_cache():
    return [path for part in PARTS for path in files(part)]


def test_the_cache_is_pruned_by_age(study, capsys):
    """A dry run deletes nothing; what has changed since stays, and so do records; the same run makes it again."""
    said(capsys, "run", study, "--workers", 1)
    there = in_the_cache()
    assert {path.relative_to(paths.cache()).parts[0] for path in there} == {"trials", "logs"}
    strange = paths.cache() / "of-another-program"
    strange.write_text("keep")
    assert "would delete 0 files" in said(capsys, "cache", "prune")[0]
    for path in there:
        os.utime(path, (long_ago := time.time() - 40 * 86_400, long_ago))
    told = said(capsys, "cache", "prune", "--dry-run")[0]
    assert f"would delete {len(there)} files" in told
    assert in_the_cache() == there
    first = place_of(read_params(paths.Path(study)).arms()[0].trials[0])
    os.utime(first)
    assert f"deleted {len(there) - 1} files" in said(capsys, "cache", "prune", "--yes")[0]
    assert in_the_cache() == [first]
    assert strange.exists()
    assert "2 of 2 records" in said(capsys, "run", study, "--workers", 1)[0]
    assert "0 trials to train" not in said(capsys, "run", study, "--workers", 1, "--trials", 3)[0]
    assert "did you mean 'logs'" in said(capsys, "cache", "prune", "--part", "log", code=2)[1]


def test_what_a_killed_process_of_another_machine_left_is_pruned(capsys):
    """No process here can be asked whether it lives, but one that writes would have written since."""
    (paths.cache() / "trials").mkdir(parents=True)
    old, new = (paths.cache() / f"trials/.{name}.checkpoint.elsewhere.7" for name in "ab")
    for file in (old, new):
        file.write_text("half")
    os.utime(old, (long_ago := time.time() - 40 * 86_400, long_ago))
    assert "deleted 1 files" in said(capsys, "cache", "prune", "--yes")[0]
    assert (old.exists(), new.exists()) == (False, True)


def test_colons_are_no_pictures(capsys):
    """A path and what a network writes are shown as they are, also where Rich knows a picture of that name."""
    assert ":x:y" in said(capsys, "run", "folder/a:x:y.yaml", code=2)[1]
    console.print("seed 42: :key:")
    assert capsys.readouterr().out == "seed 42: :key:\n"
