"""`actlab report`: the summary's numbers and the files that it promises."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import grids

from actlab import report, store
from actlab.errors import BadInput, UnknownName


@pytest.fixture
def study() -> str:
    for record in (grids.record(), grids.record(activation="gelu", pd=0.2), grids.record(model="tinylstm"), grids.floor(), grids.baseline()):
        name = "-".join(str(record.get(key, "x")) for key in ("model_name", "activation", "kind"))
        store.save(store.path_of("made-up", name), record)
    return "made-up"


def test_report_writes_what_the_reference_workflow_wrote(study: str, tmp_path: Path) -> None:
    """Summary, per-model figures and figures across models, all of them non-empty."""
    written = {str(path.relative_to(tmp_path)) for path in report.write(study, tmp_path)}
    across = {"accuracy.png", "reproducibility.png", "total_variation.png", "accuracy_vs_reproducibility.png", "four_panels.png", "noise_floor.png"}
    each = {"accuracy.png", "reproducibility.png", "total_variation.png", "training_curves.png", "comparison.png"}
    assert written == {"summary.txt"} | across | {f"{m}/{name}" for m in ("charlm", "tinylstm") for name in each}
    assert all((tmp_path / name).stat().st_size > 100 for name in written)


def test_summary_has_mean_cv_best_and_worst(study: str) -> None:
    """Per model and metric: every activation with interval and n, then mean, CV%, lowest and highest."""
    text = report.summary(report.load(study))
    assert "relu       0.1200 [" in text
    assert "n = 3" in text
    assert "mean 0.1700, CV% 29.41" in text
    assert "lowest relu, highest gelu" in text
    assert "gelu: not run" in text.split("MODEL tinylstm")[1]


def test_filters_and_no_plots(study: str, tmp_path: Path) -> None:
    """Only the chosen models and activations appear; --no-plots leaves the summary alone."""
    assert [path.name for path in report.write(study, tmp_path, ["charlm"], ["gelu"], plots=False)] == ["summary.txt"]
    text = (tmp_path / "summary.txt").read_text()
    assert "tinylstm" not in text
    assert "relu " not in text


def test_wrong_names_list_what_there_is(study: str) -> None:
    """Unknown study, model, activation: the message says what is known."""
    with pytest.raises(BadInput, match="studies with records are made-up"):
        report.load("nothing")
    with pytest.raises(UnknownName, match="known are charlm, tinylstm"):
        report.load(study, ["charml"])
    with pytest.raises(UnknownName, match="did you mean 'gelu'"):
        report.load(study, activations=["gelo"])
