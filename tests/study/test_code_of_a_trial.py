"""The hash of the code that trains covers all code that decides a trial's bits."""

import inspect
import shutil
import sys
from pathlib import Path

import pytest
import tiny

from actlab.study import provenance
from actlab.study.cache import train_afresh
from actlab.study.params import read_params
from actlab.study.run import load

PACKAGE = Path(provenance.__file__).parents[1]
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


def executed(work, name=""):
    """Code of the package's functions that run, or that are handed this text."""
    found = set()

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            given = inspect.getargvalues(frame)
            values = [*map(given.locals.get, given.args), *given.locals.get(given.keywords, {}).values()]
            found.update([frame.f_code] * (not name or any(isinstance(one, str) and one == name for one in values)))

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
    assert all((PACKAGE / name).exists() for name in (*provenance.CODE_OF_A_TRIAL, *BESIDE))
    task = tiny.tasks(toy, monkeypatch)[name]
    status = []
    codes = executed(lambda: status.extend(results["status"] for results, _ in train_afresh(task)))
    ran = {Path(code.co_filename).relative_to(PACKAGE).as_posix() for code in codes}
    assert {*status} == {"done"}
    covered = {file for file in ran if any(Path(file).is_relative_to(part) for part in provenance.CODE_OF_A_TRIAL)}
    assert {"trainers/setup.py", "trainers/seeds.py", "activations.py"} <= covered
    assert ran - covered <= set(BESIDE)


def test_a_name_becomes_an_object_after_twelve_stops(toy, tmp_path):
    """From its params file to the module, the text of an activation's name is handed to so many functions of ours."""
    (tmp_path / "one.yaml").write_text("study: one\nactivation: [smelu_05]\nnoise_floor: false\n")

    def built():
        task = load(read_params(tmp_path / "one.yaml")).arms[0].trials[0]
        return task.fresh()

    assert {code.co_name for code in executed(built, "smelu_05")} == {
        *("check", "our_name", "__contains__", "as_list", "as_tuple", "replace"),
        *("defects_of", "find_activation", "parts_of", "part", "find_part", "find"),
    }


def hashed(package, **files):
    """Of a made-up package's trainers."""
    shutil.rmtree(package, ignore_errors=True)
    (package / "trainers").mkdir(parents=True)
    for name, source in files.items():
        (package / "trainers" / f"{name}.py").write_text(source)
    return provenance.code_sha256("trainers")


@pytest.fixture
def package(tmp_path, monkeypatch):
    found = tmp_path / "lib" / "actlab"
    monkeypatch.setattr(provenance.paths, "PACKAGE", found)
    return found


def test_words_change_no_hash(package):
    """Docstrings, comments and names of files decide no bit; a number does."""
    plain = hashed(package, a="def f(x):\n    return x + 1\n")
    worded = 'def f(x):\n    """Words."""\n    return x + 1  # why\n'
    assert hashed(package, b=worded) == plain
    assert hashed(package, a="def f(x):\n    return x + 2\n") != plain


def test_a_rerouted_import_changes_the_hash(package):
    """The same name from another place is another function."""
    one = hashed(package, a="from actlab.optimizers.steps import step\n\nstep()\n")
    assert hashed(package, a="from actlab.optimizers.others import step\n\nstep()\n") != one
