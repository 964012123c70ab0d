"""The hash of the code that trains covers all code that decides a trial's bits."""

import shutil
import sys
from pathlib import Path

import pytest
import tiny

from actlab.study import cache
from actlab.study.cache import train_afresh

PACKAGE = Path(cache.__file__).parents[1]
BESIDE = {
    "errors.py": "tables of names, messages",
    "files.py": "atomic writes",
    "paths.py": "where data and cache lie",
    "records/strict.py": "how a digest writes numbers",
    "records/store.py": "the digest of what a record says of its data",
    "study/cache.py": "cache, lock, failures",
    "plugins.py": "refuses a user's part that has changed",
}
"""What may run in a trial without a place in its hash, and why."""


def executed(work):
    """Files of the package whose functions run."""
    found = set()

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            found.add(Path(frame.f_code.co_filename).relative_to(PACKAGE).as_posix())

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("name", ["charlm relu", "as published", "ablation", "images"])
def test_every_file_that_takes_part_is_covered_or_named(name, toy, monkeypatch):
    """Whatever runs between a specification and its weights is hashed, or stands in the list with its reason; a renamed
    file does not escape."""
    assert all((PACKAGE / name).exists() for name in (*cache.CODE_OF_A_TRIAL, *BESIDE))
    task = tiny.tasks(toy, monkeypatch)[name]
    status = []
    ran = executed(lambda: status.extend(results["status"] for results, _ in train_afresh(task)))
    assert {*status} == {"done"}
    covered = {file for file in ran if any(Path(file).is_relative_to(part) for part in cache.CODE_OF_A_TRIAL)}
    assert {"trainers/setup.py", "trainers/seeds.py", "activations.py"} <= covered
    assert ran - covered <= set(BESIDE)


def hashed(package, **files):
    """Of a made-up package's trainers."""
    shutil.rmtree(package, ignore_errors=True)
    (package / "trainers").mkdir(parents=True)
    for name, source in files.items():
        (package / "trainers" / f"{name}.py").write_text(source)
    return cache.code_sha256("trainers")


@pytest.fixture
def package(tmp_path, monkeypatch):
    found = tmp_path / "lib" / "actlab"
    monkeypatch.setattr(cache.paths, "PACKAGE", found)
    return found


def test_words_change_no_hash(package):
    """Docstrings, comments and names of files decide no bit; a number does."""
    plain = hashed(package, a="def f(x):\n    return x + 1\n")
    worded = 'def f(x):\n    """Words."""\n    return x + 1  # why\n'
    assert hashed(package, b=worded) == plain
    assert hashed(package, a="def f(x):\n    return x + 2\n") != plain
