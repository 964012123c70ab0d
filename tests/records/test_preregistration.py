"""A plan counts as registered where the history shows that it was committed before the training."""

import hashlib

import pytest
from tests.support.history import commit, git

from actlab import paths
from actlab.records import store
from actlab.records.preregistration import commits, registrations


def record(content, started):
    mark = {"version": 1, "sha256": hashlib.sha256(content.encode()).hexdigest()}
    return {"study": "toy", "trials": [{"started": moment} for moment in started], "provenance": {"plan": mark}}


@pytest.fixture
def repository(tmp_path):
    """One with two versions of params/toy.yaml, committed in 2025 and in 2026."""
    git(tmp_path, "init")
    for content, year in (("old", 2025), ("new", 2026)):
        commit(tmp_path, content, f"{year}-01-01T00:00:00+00:00", {"params/toy.yaml": content})
    return str(tmp_path)


def test_each_version_is_found_with_its_own_date(repository):
    """The earliest training counts, and each version its own commit."""
    early, late = "2025-06-01T00:00:00+00:00", "2026-06-01T00:00:00+00:00"
    old, new = registrations([record("new", [late]), record("old", [late, early]), record("old", [late])], repository)
    assert (old.records, old.committed[:4], old.first_run, old.before) == (2, "2025", early, True)
    assert (new.records, new.committed[:4], new.before) == (1, "2026", True)


def test_training_before_the_commit_and_unknown_plans_show(repository):
    """A record that was begun before its plan was committed is told; a plan that is nowhere in the history is
    unknown."""
    (begun,) = registrations([record("new", ["2025-06-01T00:00:00+00:00"])], repository)
    (unknown,) = registrations([record("never", ["2026-06-01T00:00:00+00:00"])], repository)
    assert begun.before is False
    assert (unknown.commit, unknown.before) == ("", None)
    assert commits("params/toy.yaml", "/nowhere") == []


def test_every_recorded_plan_of_this_repository_came_before_its_runs(monkeypatch):
    """Of all results: the history holds each record's plan, from before its first trial (where there is a history)."""
    if not commits("params/repro-lite.yaml"):
        pytest.skip("no git history here")
    monkeypatch.setenv("ACTLAB_RESULTS", str(paths.ROOT / "results"))
    folders = [folder.name for folder in sorted(paths.results().iterdir()) if folder.is_dir()]
    found = [one for study in folders for one in registrations(store.load_study(study))]
    assert [one for one in found if not one.before] == []
