"""A plan counts as registered where the history shows that it was committed before the training."""

import hashlib
import json

import grids
import pandas as pd
import pytest
from history import commit, git

from actlab import paths
from actlab.plans.history import commits, registrations
from actlab.records import store


def record(content, started):
    mark = {"version": 1, "sha256": hashlib.sha256(content.encode()).hexdigest()}
    return {"study": "toy", "trials": [{"started": moment} for moment in started], "provenance": {"plan": mark}}


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """One with two versions of params/toy.yaml, committed in 2025 and in 2026."""
    monkeypatch.setattr(paths, "git", paths.git.__wrapped__)  # what is kept is of the real one
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    git(tmp_path, "init")
    for content, year in (("old", 2025), ("new", 2026)):
        commit(tmp_path, content, f"{year}-01-01T00:00:00+00:00", {"params/toy.yaml": content})


def test_each_version_is_found_with_its_own_date(repository):
    """The earliest training counts, and each version its own commit."""
    early, late = "2025-06-01T00:00:00+00:00", "2026-06-01T00:00:00+00:00"
    records = [record("new", [late]), record("old", [late, early]), record("old", [late])]
    old, new = registrations(records).itertuples()
    assert (old.records, old.committed[:4], old.first_run) == (2, "2025", early)
    assert (new.records, new.committed[:4], new.first_run) == (1, "2026", late)


def test_a_plan_that_is_nowhere_in_the_history_has_no_commit(repository, monkeypatch):
    (unknown,) = registrations([record("never", ["2026-06-01T00:00:00+00:00"])]).itertuples()
    assert (unknown.commit, unknown.committed) == ("", "")
    monkeypatch.setattr(paths, "ROOT", "/nowhere")
    assert commits("params/toy.yaml") == {}


def begun(record):
    """When the training of a record had begun at the latest: when it was written minus its longest trial."""
    longest = max(sum(trial["seconds"].values()) for trial in record["trials"] if trial["status"] == "done")
    return pd.Timestamp(record["provenance"]["date"]) - pd.Timedelta(seconds=longest)


def test_every_rule_of_a_params_file_was_committed_before_the_training_of_its_study():
    """Where the plan is a comment; trials may run side by side."""
    if not commits("params/sources.yaml"):
        pytest.skip("the history of the repository is not here")
    studies = ("sources", "scale", "extreme", "autopsy-convlm", "autopsy-models", "autopsy-swiglu", "autopsy-overfit")
    for study in (*studies, "extreme-small", "sources-small"):
        first = min(begun(record) for record in grids.committed(study) if record["kind"] == "trials")
        assert pd.Timestamp(next(iter(commits(f"params/{study}.yaml").values()))) < first, study


def test_every_recorded_plan_of_this_repository_came_before_its_runs(committed):
    """Of all results: the history holds each record's plan, from before its first trial (where there is a history)."""
    if not commits("params/repro-lite.yaml"):
        pytest.skip("no git history here")
    folders = [folder.name for folder in sorted(paths.results().iterdir()) if folder.is_dir()]
    found = pd.concat([registrations(store.load_study(study)) for study in folders])
    committed, began = (pd.to_datetime(found[column], utc=True) for column in ("committed", "first_run"))
    assert len(found) > 1
    assert (committed <= began).all()


REWRITTEN = {"results/answer-same-rate/nanotransformer-smelu_1-663c73e2f9.json"}
"""Written again under the version of the plan that its runs began under; results/README.md names it."""


def test_no_record_was_edited():
    """In the whole history, but for the named one and a study that was trained again."""
    found = paths.git("log", "--diff-filter=M", "--format=", "--name-only", "--", "results/*/*.json")
    if not found:
        pytest.skip("the history of the repository is not here")
    assert {name for name in found.split() if not name.startswith("results/sources-small/")} == REWRITTEN
    (name,) = REWRITTEN
    before, after = (json.loads(paths.git("show", f"59b667b{at}:{name}")) for at in ("^", ""))
    assert {key for key in after if after[key] != before[key]} == {"provenance", "checksum"}
