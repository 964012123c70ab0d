"""The hash of the code that trains covers all code that decides a trial's bits."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from actlab.models.gpt2 import GPT2_SCALES
from actlab.study import arms, provenance, trial
from actlab.study.kinds import images
from actlab.study.kinds.ablation import Ablation, AblationParams

PACKAGE = Path(provenance.__file__).parents[1]
BESIDE = {
    "errors.py": "tables of names, messages",
    "files.py": "atomic writes",
    "paths.py": "where data and cache lie",
    "records/store.py": "the digest of what a record says of its data",
    "study/arms.py": "the specification: its values are part of the trial's key",
    "study/kinds/__init__.py": "which kind a task is of",
    "study/plugins/identity.py": "refuses a user's part that has changed",
    "study/kinds/measure.py": "measures the trained model",
    "study/trial.py": "cache, lock, failures",
}
"""What may run in a trial without a place in its hash, and why."""


def executed(work):
    """The package's files whose functions run."""
    found = set()

    def look(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            found.add(frame.f_code.co_filename)

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    return {Path(file).relative_to(PACKAGE).as_posix() for file in found}


@pytest.mark.parametrize("kind", ["language model, corrected", "language model, as published", "ablation", "images"])
def test_every_file_that_takes_part_is_covered_or_named(kind, toy, monkeypatch):
    """Whatever runs between a specification and its weights is hashed, or stands in the list with its reason."""
    if kind == "ablation":
        monkeypatch.setitem(GPT2_SCALES, "quick", replace(GPT2_SCALES["quick"], block_size=8))
        params = AblationParams(
            optimizers=("soap",), iterations=2, evaluate_every=1, batch_size=2, validation_windows=4
        )
        task = Ablation().plan(params)[0].trials[0]
    elif kind == "images":
        task = images.programs_of(images.MnistParams(trials=1, batch_sizes=(64,)))[0]
    else:
        published = {"protocol": "as_published", "model": ("convlm",), "activations": ("swiglu",)}
        one = toy.replace(**published) if "published" in kind else toy
        task = arms.arms_of(one)[0].trials[0]
    status = []
    ran = executed(lambda: status.append(trial.train_afresh(task)[0]["status"]))
    assert status == ["done"]
    covered = {file for file in ran if any(Path(file).is_relative_to(part) for part in provenance.CODE_OF_A_TRIAL)}
    assert {"trainers/setup.py", "trainers/seeds.py", "activations.py"} <= covered
    assert ran - covered <= set(BESIDE)


def test_the_list_names_what_there_is():
    """A renamed file does not escape."""
    assert all((PACKAGE / name).exists() for name in (*provenance.CODE_OF_A_TRIAL, *BESIDE))


def test_words_and_moves_change_no_hash(tmp_path, monkeypatch):
    """Docstrings, comments, imports and names of files decide no bit; a number does."""
    package = tmp_path / "lib" / "actlab"
    monkeypatch.setattr(provenance, "__file__", str(package / "study" / "provenance.py"))

    def hashed(name, source):
        shutil.rmtree(package, ignore_errors=True)
        (package / "trainers").mkdir(parents=True)
        (package / "trainers" / name).write_text(source)
        return provenance.code_sha256("trainers")

    plain = hashed("a.py", "def f(x):\n    return x + 1\n")
    worded = 'import math\n\n\ndef f(x):\n    """Words."""\n    return x + 1  # why\n'
    assert hashed("b.py", worded) == plain
    assert hashed("a.py", "def f(x):\n    return x + 2\n") != plain
