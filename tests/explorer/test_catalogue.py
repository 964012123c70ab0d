"""What the explorer shows: the records' own values, at their own places, and nothing that no record has."""

import json

import grids
import pytest
from explored import catalogue, folders, made_up

from actlab.errors import BadInput
from actlab.explorer import catalogue as explore
from actlab.records.settings import in_order
from actlab.records.tables import of_records
from actlab.statistics.contrasts import contrasts


def test_studies_go_by_names_in_words_in_the_menus_order():
    """A folder without a name in words keeps its own and comes last; one with nothing to explore is left out."""
    found = explore.of_records({"own": [grids.record()], "scale": made_up(), "empty": [grids.baseline()]})["studies"]
    assert [study["title"] for study in found.values()] == ["Four sizes of charlm", "own"]


def test_values_are_the_records_own():
    """Single values in the order of the pairs; what a diverged trial has not is missing; a perturbation stands with its
    arm."""
    study = catalogue()["studies"]["repro-lite"]
    assert [factor["levels"] for factor in study["factors"].values()] == [["charlm", "tinylstm"], ["relu", "swiglu"]]
    relu, swiglu, diverged = study["arms"]
    pairs = made_up()[1]["reproducibility_metrics"]
    assert swiglu["singles"]["churn"] == pytest.approx([pair["churn"] for pair in pairs])
    assert diverged["singles"]["val_loss"] == [2.0, 2.1, None]
    assert diverged["not_done"] == ["44: diverged"]
    assert relu["moved"]["churn"] == [1e-6]
    assert swiglu["moved"] == {}


def test_training_is_followed_at_every_snapshot_and_at_the_end():
    arm = next(arm for arm in catalogue()["studies"]["sources"]["arms"] if arm["setting"] == "varies=all")
    found = arm["snapshots"]
    assert found["iteration"] == [50, 100, 200, 350, 500]
    assert [len(row) for row in found["val_loss"]] == [5] * 5
    assert [len(row) for row in found["total_variation"]] == [10] * 5
    assert found["total_variation"][-1] == pytest.approx(arm["singles"]["total_variation"], abs=5.1e-7)


def test_significance_is_that_of_the_public_comparisons():
    """Holm over the study, at the end of training and at equal loss."""
    study, (trials, pairs) = catalogue()["studies"]["extreme"], of_records(folders()["extreme"])
    for metric, table in (("val_loss", trials), ("total_variation", pairs)):
        expected = contrasts(table.query("kind == 'trials'"), metric).set_index("activation")["p_holm"]
        shown = {arm["at"]["activation"]: arm["p"][metric] for arm in study["arms"] if arm["p"]}
        assert shown == pytest.approx(expected.to_dict(), rel=1e-6)
    arms = [arm for arm in catalogue()["studies"]["sources"]["arms"] if arm["p"]]
    assert len(arms) == 24
    assert all(0 <= arm["p"]["loss total_variation"] <= 1 for arm in arms)


def test_catalogue_is_strict_json():
    """NaN is null."""
    assert json.loads(json.dumps(catalogue(), allow_nan=False))["t"][:3] == [None, 12.7062, 4.302653]


def test_studies_are_read_from_the_results_folder():
    """No folder, no study; an unknown one is an error."""
    assert explore.studies()["studies"] == {}
    grids.save(grids.record(), study="repro-lite")
    assert list(explore.studies()["studies"]) == list(explore.studies(["repro-lite"])["studies"]) == ["repro-lite"]
    with pytest.raises(BadInput, match=r"unknown study with trials .repro-light. in results.*known are repro-lite"):
        explore.studies(["repro-light"])


def test_levels_are_in_the_studies_order():
    assert in_order({"0.1", "1e-4", "0.01"}) == ["1e-4", "0.01", "0.1"]
    assert in_order({"lite", "1m", "33k", "116k"}) == ["33k", "116k", "1m", "lite"]
    assert in_order({"swiglu", "zeta", "relu", "mish"}) == ["relu", "swiglu", "mish", "zeta"]
