"""Titles and captions are fixed text: each test fails when the committed records say otherwise."""

import json

import pytest

from actlab import paths
from actlab_audit import readings
from actlab_audit.autopsy import trained

pytestmark = pytest.mark.usefixtures("committed")


def title(page):
    """The first line of a notebook."""
    cells = json.loads((paths.ROOT / "notebooks" / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    return cells[0]["source"][0].strip().removeprefix("# ")


def test_autopsy():
    """With its defect on each anomaly is there, without it not: equal losses, a loss near 0, a model that differs from
    itself as two seeds do, a trend that needs no second model."""
    assert (
        title("autopsy")
        == "Re-introducing the published bugs in small networks reproduces the published kinds of anomalies"
    )
    evidence = readings.gather()
    assert "165 of 165 evaluations" in trained.identical(evidence)[0]
    leaky, causal = (float(side.split()[0]) for side in trained.leak(evidence))
    assert leaky < 0.1 < 2 < causal
    for cell in (cell for cell in evidence.on if cell[0] != trained.UNIGRAM):
        reading = evidence.on[cell]
        assert reading.itself().value > 0.95 * reading.between().value > 4 * reading.paired().value
    points = trained.points(evidence).query("model != @trained.UNIGRAM")
    assert trained.correlation(points, "itself") < -0.8 < -0.2 < trained.correlation(points, "paired")
    assert trained.order(evidence.overfit, "val_loss") != trained.order(evidence.overfit, "best_val_loss")
