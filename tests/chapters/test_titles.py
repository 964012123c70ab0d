"""Titles and captions are fixed text: each test fails when the committed records say otherwise."""

import json

import pytest

from actlab import paths
from actlab.chapters import intro, processors, running
from actlab.records import families, repro, sources, store
from actlab.statistics.significance import ALPHA
from actlab_audit import ledger, readings
from actlab_audit.autopsy import trained

pytestmark = pytest.mark.usefixtures("committed")


def title(page):
    """The first line of a notebook."""
    cells = json.loads((paths.ROOT / "notebooks" / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    return cells[0]["source"][0].strip().removeprefix("# ")


def minus_relu(study, metric):
    """(model, activation) -> difference from relu and its adjusted p-value."""
    grid = families.quoting(repro.read(store.load_study(study)))
    return {(arm.model, arm.activation): (e.value, p) for arm, e, p, _ in families.tested(grid, metric)}


def test_processors():
    """Kinked and smooth activations lie more than three powers of ten apart in charlm, and at lite scale in five of six
    architectures; at tuned rates and at partial scale not in all."""
    assert title("processors").startswith(
        "At a low learning rate a rounding error grows in five of six small networks under relu and in none"
    )
    assert title("processors").endswith("it grows under both in five, at a larger scale in two")
    small, large = map(repro.read_study, (intro.SMALL, intro.LARGER))
    assert len(small.floors()) == len(large.floors()) == 36
    assert processors.growing(small) == "under relu in 5 of 6 architectures, under other activations in none"
    assert processors.growing(large).endswith("minigpt and nanotransformer")
    tuned, partial, slow = (sources.read(store.load_study(f"rounding{name}")) for name in ("-tuned", "", "-slow"))
    assert "is contradicted: 20 of 30 configurations exceed this, in 5 arch" in processors.at_tuned_rates(tuned)
    assert processors.growing(tuned).startswith("under relu in 6 of 6 architectures")
    found = processors.causes(partial, large, slow)
    assert [*found["needs a GPU"]] == ["no"] * 4
    assert [*found["needs the rate"]] == ["yes", "yes", "no", "no"], "minigpt, nanotransformer"
    grid = repro.read(store.load_study(intro.PERTURBED))
    assert grid.models == ("charlm",), "named on the front page and in its figure"
    moved = {name: floor for name, (floor, _) in intro.floors(grid).items()}
    kinked = [moved.pop(name) for name in ("relu", "step")]
    assert min(kinked) > 1e3 * max(moved.values())
    bfloat16 = sources.read(store.load_study("sources-small"))
    for arm in bfloat16.arms():
        apart = bfloat16.perturbation("charlm", arm.activation, "bfloat16")
        smooth = bfloat16.perturbation("charlm", "gelu", "nudge")
        assert 1e3 * max(smooth) < min(apart) < max(apart) < arm.estimate("total_variation").low / 5
    low, *others = sorted(bfloat16.perturbation("charlm", "relu", "nudge"))
    assert low < 1e-6 < 1e-4 < min(others), "one of five stays as near to itself as a smooth one"
    larger = sources.read(store.load_study("sources"))
    for nudged in (larger.perturbation(model, "relu", "nudge") for model in ("charlm", "convlm")):
        assert len(nudged) == 5
        assert max(nudged) < 2 * min(nudged)


def test_sources():
    """Under every activation and at both sizes."""
    assert title("sources").startswith("A new initialization alone, or a new batch order alone, gives most of")
    for study in ("sources", "sources-small"):
        found = sources.read(store.load_study(study))
        streams = ("init", "order", "dropout", "all")
        means = ([arm.estimate("total_variation").value for arm in found.arms(s)] for s in streams)
        for *alone, dropout, every in zip(*means, strict=True):
            assert 0 < dropout < min(alone)
            assert min(alone) > every / 2


def test_extreme():
    """All five change the loss at both sizes, only squared_relu lowers it; agreement changes its sign with size."""
    assert title("extreme").endswith("(sine as identity does); only squared_relu lowers it")
    for study, sign, undecided in (("extreme", 1, "step"), ("extreme-small", -1, "squared_relu")):
        loss, agreement = (minus_relu(study, metric) for metric in ("val_loss", "total_variation"))
        assert all(p < 0.05 for _, p in loss.values())
        assert [a for (_, a), (value, _) in loss.items() if value < 0] == ["squared_relu"]
        assert abs(loss["charlm", "sine"][0] - loss["charlm", "identity"][0]) < 0.002
        assert all(sign * value * loss[cell][0] < 0 for cell, (value, _) in agreement.items())
        assert [a for (_, a), (_, p) in agreement.items() if p >= ALPHA] == [undecided]


def test_claims():
    """The ledger's title is the sentence that the front page quotes; most decided outcomes are artefacts."""
    said, others, defect = ledger.decided(ledger.judge()).split("; ")
    assert title("claims").lower() == said
    assert others == "2 compatible, 2 contradicted"
    assert defect == "15 artefacts come from one bug (the activation ignored)"


def test_running():
    """No fault lost a result; where the same bits are promised they came; most peers take more time than we do in
    float32, and training in bfloat16 takes less on the processor of the figure, which has AMX, and more on another."""
    told = (paths.ROOT / "notebooks" / "running.ipynb").read_text(encoding="utf-8")
    faults = running.newest(running.TRUST)["faults"]
    replays = [r["equal"] for r in running.replays() if not running.on_another_processor(r)]
    assert f"none of {sum(fault['times'] for fault in faults)} injected faults lost a result" in told
    assert f"{sum(replays)} of {len(replays)} replays on the recorded kind of processor gave the same bits" in told
    assert sum(fault["lost"] for fault in faults) == 0
    assert all(replays)
    found = running.against_peers()
    assert all((estimate.high < 0) == (way == running.HALF) for (_, way), estimate in found.items())
    slower = [estimate.low > 0 for (_, way), estimate in found.items() if way != running.HALF]
    assert 2 * sum(slower) > len(slower)
    assert running.newest(running.SPEED, "peers")["provenance"]["machine"]["capability"].endswith("AMX")
    assert [ratio > 1 for kind, ratio in running.halves().items() if "Intel" in kind] == [False, True]


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
