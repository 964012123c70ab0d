"""A plan counts as registered where the history shows that it was committed before the training."""

import hashlib
import json
from pathlib import Path

import grids
import pandas as pd
import pytest
from history import commit, git

from actlab import paths
from actlab.plans.history import commits, first_form, registrations
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
    monkeypatch.setattr(paths, "ROOT", Path("/nowhere"))
    assert commits("params/toy.yaml") == {}
    assert first_form("params/toy.yaml", "") == ("unknown", "unknown")


def needs_history():
    """Skips a test where there is no repository, or a shallow clone of it."""
    if (paths.git("rev-parse", "--is-shallow-repository") or "true").strip() == "true":
        pytest.skip("the whole history of the repository is not here")


def begun(record):
    """When the training of a record had begun at the latest: when it was written minus its longest trial."""
    longest = max(sum(trial["seconds"].values()) for trial in record["trials"] if trial["status"] == "done")
    return pd.Timestamp(record["provenance"]["date"]) - pd.Timedelta(seconds=longest)


def test_every_rule_of_a_params_file_was_committed_before_the_training_of_its_study():
    """Where the plan is a comment; trials may run side by side."""
    needs_history()
    studies = ("sources", "scale", "extreme", "autopsy-convlm", "autopsy-models", "autopsy-swiglu", "autopsy-overfit")
    for study in (*studies, "extreme-small", "sources-small"):
        first = min(begun(record) for record in grids.committed(study) if record["kind"] == "trials")
        assert pd.Timestamp(next(iter(commits(f"params/{study}.yaml").values()))) < first, study


def test_every_recorded_plan_of_this_repository_came_before_its_runs(committed):
    """Of all results: the history holds each record's plan, from before its first trial (where there is a history)."""
    needs_history()
    folders = [folder.name for folder in sorted(paths.results().iterdir()) if folder.is_dir()]
    found = pd.concat([registrations(store.load_study(study)) for study in folders])
    committed, began = (pd.to_datetime(found[column], utc=True) for column in ("committed", "first_run"))
    assert len(found) > 1
    assert (committed <= began).all()


def test_every_recorded_plan_was_committed_before_the_first_commit_of_its_record():
    """Of the form in which a record came into the history, whatever was written into it since."""
    needs_history()
    added = paths.git("log", "--reverse", "--diff-filter=A", "--format=%cI", "--name-only", "--", "results/*/*.json")
    assert added
    first, moment = {}, ""
    for line in filter(None, added.splitlines()):
        if line.endswith(".json"):
            first.setdefault(line, moment)
        else:
            moment = line
    plans = {}
    for path in [path for path in first if (paths.ROOT / path).exists() and path.count("/") == 2]:
        record = json.loads((paths.ROOT / path).read_text(encoding="utf-8"))
        if plan := record.get("provenance", {}).get("plan"):
            file = f"params/{path.split('/')[1]}.yaml"
            plans.setdefault((file, plan["sha256"]), []).append(path)
    assert plans
    for (file, sha256), records in plans.items():
        _, committed = first_form(file, sha256)
        assert committed, file
        assert pd.Timestamp(committed) <= min(pd.Timestamp(first[path]) for path in records), file


REWRITTEN = {"results/answer-same-rate/nanotransformer-smelu_1-663c73e2f9.json"}
"""Written again under the version of the plan that its runs began under; results/README.md names it."""
STRICT = "results/strict-json.csv"
"""The list of records that one commit made strict JSON; results/README.md names it."""


def edited(*more):
    """Names of the records that some commits have changed."""
    found = paths.git("log", "--diff-filter=M", "--format=", "--name-only", *more, "--", "results/*/*.json") or ""
    return {*found.split()}


def made_strict():
    """The commit that made records strict JSON, and its list: name -> (sha256 before, after)."""
    needs_history()
    commit = (paths.git("log", "--diff-filter=A", "--format=%H", "--", STRICT) or "").strip()
    rows = pd.read_csv(paths.ROOT / STRICT).itertuples(index=False)
    return commit, {f"results/{path}": (before, after) for path, before, after in rows}


def test_no_record_was_edited():
    """In the whole history, but for the named one, a study that was trained again, and the commit that made NaN null:
    it changed what its list says, and nothing that is in the list was changed since."""
    commit, listed = made_strict()
    assert {name for name in edited(f"{commit}^") if not name.startswith("results/sources-small/")} == REWRITTEN
    assert edited(f"{commit}^..{commit}") == {*listed}
    assert edited(f"{commit}..HEAD") == set()
    for name, (_, after) in listed.items():
        if (path := paths.ROOT / name).exists():
            assert hashlib.sha256(path.read_bytes()).hexdigest() == after, name
    (name,) = REWRITTEN
    before, after = (json.loads(paths.git("show", f"59b667b{at}:{name}")) for at in ("^", ""))
    assert {key for key in after if after[key] != before[key]} == {"provenance", "checksum"}
