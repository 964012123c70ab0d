"""Titles and captions are fixed text: each test fails when the committed records say otherwise."""

import json

import pytest

from actlab import paths
from actlab.chapters import answer, companions
from actlab.records.companions import FURTHER
from actlab.statistics.significance import ALPHA
from actlab_audit import readings
from actlab_audit.autopsy import trained

pytestmark = pytest.mark.usefixtures("committed")


def title(page):
    """The first line of a notebook."""
    cells = json.loads((paths.ROOT / "notebooks" / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    return cells[0]["source"][0].strip().removeprefix("# ")


def test_answer():
    """Most comparisons are undecided; all gains were tested at one rate, two of them twice, and none is significant
    where both end; one is at a higher loss."""
    found = answer.read()
    told = "At equal loss most differences from relu in agreement between seeds are undecided; at the same learning "
    assert title("answer") == told + "rate no gain is significant at the end of training"
    outcomes = [decision.outcome for decision in found.comparisons().values()]
    assert outcomes.count("undecided") > len(outcomes) / 2
    also = companions.read(found)
    equal, more = also[companions.HALF].at_one_rate(), also[companions.SAME].own
    assert [d.outcome for d in more.comparisons().values()] == ["equivalent", "undecided"]
    assert [d.outcome for d in more.comparisons(earlier=FURTHER).values()] == [
        "undecided",
        "more reproducible",
    ]
    assert len(equal) == outcomes.count("more reproducible") == 3
    assert all(decision.adjusted > ALPHA for decision in equal.values())
    assert 0.19 < found.levels()["convlm"].values["relu"].value < 0.22, "one draw in five"


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
