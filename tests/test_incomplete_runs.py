"""Notebooks on a study of which little is recorded: no mean over groups that one side lacks, no range of one level."""

import cells
import pytest

from actlab import paths
from actlab.files import read_yaml

pytestmark = pytest.mark.slow
ALONE = {"other": "", "full": "", "sizes": "", "tuned": ""}
"""Of the report: one study beside no other."""


@pytest.fixture(scope="module")
def report():
    """The report of full scale, where charlm has five activations and two networks have ReLU alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ACTLAB_RESULTS", raising=False)
        yield cells.executed("report", study="repro-full", **ALONE)


def test_a_mean_over_networks_is_of_those_that_both_sides_have(report):
    """Swish minus ReLU over one network is that network's difference, and not ReLU's mean over three."""
    mean, charlm = (report["ahead"].loc[name] for name in ("mean, these networks", "charlm"))
    assert mean["networks"] == 1
    assert mean["difference"] == pytest.approx(charlm["difference"])
    assert mean["difference"] == pytest.approx(0.152, abs=1e-3)


def test_one_level_has_no_range_and_no_rank(report):
    """Nor a share of the variance, a best activation, or a first place."""
    alone = ["minigpt", "nanotransformer"]
    assert report["spread"].loc[alone].isna().all(axis=None)
    assert report["networks"].loc[alone, "best"].isna().all(axis=None)
    assert report["squares"][["architecture", "architecture x activation"]].isna().all()
    assert report["ranking"]["first in"].sum() == 1
    assert {*report["advice"].index.get_level_values("model")} == {"charlm"}
    assert {*report["ranks"].index.get_level_values("model")} == {"charlm"}


def test_the_report_takes_any_recorded_study(committed, monkeypatch, tmp_path):
    """Also the one that stands beside others by default, and where no other is there."""
    assert cells.executed("report", study="repro-lite", sizes="", tuned="")["other"] == ""
    (tmp_path / "repro-lite").symlink_to(paths.ROOT / "results" / "repro-lite")
    monkeypatch.setenv("ACTLAB_RESULTS", str(tmp_path))
    page = cells.executed("report", study="repro-lite")
    assert page["absent"] == ["repro-full", "scale", "answer", "answer-rate"]
    assert [*page["grids"]] == ["repro-lite"]


def test_what_was_never_run_has_not_learned_too_little(committed):
    """Full scale lacks three networks and any repetition of a seed: its page says so, and averages over charlm."""
    values = read_yaml(paths.ROOT / "params" / "repro-full.yaml")
    values.pop("kind", None)
    page = cells.executed("repro", train_missing=False, **values)
    assert page["missing"] == ["hybridlm", "convlm", "tinylstm"]
    assert page["poor"] == ["nanotransformer"]
    assert [*page["alike"]] == ["charlm"]
    assert page["cv"].isna().to_dict() == {"charlm": False, "minigpt": True, "nanotransformer": True}
    assert page["floors"].empty
