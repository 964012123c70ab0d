"""Trials that several studies share, the family that decides, and what was written before what."""

from dataclasses import replace

import grids
import pytest
from grids import committed

from actlab.records import preregistration as registration
from actlab.records.families import repeats, runs
from actlab.records.families import tested as compared
from actlab.records.preregistration import commits, of_rule
from actlab.records.repro import read


@pytest.fixture(scope="module")
def lite():
    return read(committed("repro-lite"))


def test_a_run_is_its_settings_and_seeds():
    """What is only measured does not matter; a rate does, and so does a stream with another seed."""
    base, varied = grids.record(), grids.record(varies="init", fixed=42)
    assert repeats(base, grids.record(snapshots=[5], recipe={"device": "cuda", "evaluate_every": 3}))
    assert not repeats(base, grids.record(snapshots=[5], recipe={"device": "cpu", "learning_rate": 0.1}))
    assert len(runs([varied]) & runs([base])) == 1
    assert not repeats(varied, base)
    assert repeats(grids.record(losses=(2.0, 2.1)), base)
    assert not repeats(base, grids.record(losses=(2.0, 2.1)))


def test_the_committed_studies_share_trials():
    """40 runs of the study of sources, 15 of the sizes and 10 extremes repeat the primary study."""
    others = committed("repro-lite")
    found = {
        study: len(runs(committed(study)) & runs(others)) for study in ("sources", "scale", "extreme", "sources-small")
    }
    assert found == {"sources": 40, "scale": 15, "extreme": 10, "sources-small": 0}


def test_one_question_has_one_family(lite):
    """The same arm has the same p-value on every page: convlm smelu_1 0.055, charlm swiglu 0.064 (they were 0.009 and
    0.014 on another)."""
    expected = {(arm.model, arm.activation): (e, p) for arm, e, p, _ in compared(lite, "total_variation")}
    assert round(expected["convlm", "smelu_1"][1], 3) == 0.055
    extremes = replace(read(committed("extreme")), primary=lite)
    found = [(arm.activation, p < 0.05) for arm, _, p, again in compared(extremes, "val_loss") if again]
    assert found == [("gelu", True)]
    own = [p < 0.05 for _, _, p, again in compared(extremes, "val_loss") if not again]
    assert own == [True] * 4


def dated():
    record = grids.record()
    record["provenance"]["date"] = "2026-11-21T12:00:00+00:00"
    for trial in record["trials"]:
        trial["seconds"] = {"training": 3600.0}
    return record


def test_a_rule_is_dated_against_the_training(monkeypatch):
    """Trials of an hour each, side by side at best, began an hour before their record was written."""
    for hours, said in (("10:59", "before the training of every record"), ("11:01", "after records of this study")):
        rule = {"abc1234": f"2026-11-21T{hours}:00+00:00"}
        monkeypatch.setattr(registration, "commits", lambda path, rule=rule: rule)
        assert said in of_rule("params/x.yaml", [dated()])
    monkeypatch.setattr(registration, "commits", lambda path: {})
    assert "no history" in of_rule("params/x.yaml", [dated()])


def test_the_history_of_the_committed_rules():
    """Every rule was committed before the training of its study."""
    if not commits("params/sources.yaml"):
        pytest.skip("the history of the repository is not here")
    studies = ("sources", "scale", "extreme", "autopsy-convlm", "autopsy-models", "autopsy-swiglu", "autopsy-overfit")
    for study in (*studies, "extreme-small", "sources-small"):
        said = of_rule(f"params/{study}.yaml", committed(study))
        assert "before the training of every record of this study" in said, study


def test_a_page_of_one_model_has_the_p_values_of_the_whole_study(lite):
    """Holm over 30 there too: convlm alone would have called smelu_1 significant (Holm over five)."""
    alone = replace(lite, models=("convlm",), arms={key: arm for key, arm in lite.arms.items() if key[0] == "convlm"})
    whole, part, own = (
        {arm.activation: p for arm, _, p, _ in compared(grid, "total_variation") if arm.model == "convlm"}
        for grid in (lite, replace(alone, primary=lite), alone)
    )
    assert part == whole
    assert own["smelu_1"] < 0.05 < whole["smelu_1"]
