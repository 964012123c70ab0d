"""Tests of records, on made-up grids with known answers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support import grids

from actlab.claims import Finding, readme, recorded
from actlab.claims.evidence import Evidence
from actlab.records.repro import read
from actlab.records.store import Record

LITE = ("lite",)


def arms(*records: Record, scale: str = "lite") -> Evidence:
    """Evidence of these records at one scale."""
    return Evidence({scale: read(records)})


def test_published_values() -> None:
    """A mean of ours is replicated, one far away is contradicted, one without records waits and says for what."""
    mine = arms(grids.record(losses=(2.0, 2.1, 2.2, 2.1, 2.1)))
    verdicts = [recorded.values("charlm", ["relu"], {"val_loss": v}, LITE)(mine).verdict for v in (2.1, 2.5)]
    assert verdicts == ["replicated", "contradicted"]
    waiting = recorded.values("charlm", ["gelu"], {"val_loss": 2.1}, LITE)(mine)
    assert (waiting.verdict, waiting.ours) == ("not yet tested", "waits for records of charlm gelu at lite scale")


def test_an_accuracy_read_at_few_positions_is_judged_less_strictly() -> None:
    """48.9% against our 47.9 +- 0.1: excluded as a loss would be, within the error of 3,000 positions (0.9 points) as
    an accuracy."""
    mine = arms(grids.record(losses=(2.05, 2.1, 2.15, 2.1, 2.1)))
    assert recorded.values("charlm", ["relu"], {"val_accuracy": 48.9}, LITE)(mine).verdict == "replicated"
    assert recorded.values("charlm", ["relu"], {"val_accuracy": 52.0}, LITE)(mine).verdict == "contradicted"


def test_the_largest_scale_decides() -> None:
    """A claim that may be judged at two scales is judged at the larger one that has records."""
    evidence = Evidence(
        {"lite": read([grids.record(losses=(2.0, 2.1, 2.2))]), "full": read([grids.record(losses=(1.09, 1.1, 1.11))])}
    )
    found = recorded.values("charlm", ["relu"], {"val_loss": 1.1}, ("full", "lite"))(evidence)
    assert (found.verdict, found.basis) == ("replicated", "records at full scale")


def test_identical_needs_every_seed() -> None:
    """Equal to four decimals in each seed, or not; as long as ignored activations have no record, the latter decides
    nothing."""
    for last, verdict in ((2.2, "replicated"), (2.20004, "replicated"), (2.2001, "not yet tested")):
        evidence = arms(grids.record(losses=LOSSES), grids.record(activation="gelu", losses=(2.0, 2.1, last)))
        assert recorded.identical(["charlm"])(evidence).verdict == verdict


LOSSES = (2.0, 2.1, 2.2)


def test_an_ignored_activation_makes_an_artefact() -> None:
    """Different when the activation arrives, identical when it is ignored: that is the flaw's doing, if both were
    trained equally long."""
    lite = read([grids.record(losses=LOSSES), grids.record(activation="gelu", losses=(2.5, 2.6, 2.7))])
    ignored = read([grids.record(activation="gelu", losses=LOSSES)])

    def judged(defect: str, iterations: int, *activations: str) -> Finding:
        return recorded.identical(["charlm"], ("relu", "gelu", *activations))(
            Evidence({"lite": lite}, {(defect, iterations): ignored})
        )

    found = judged("activation: ignored", 10)
    assert (found.verdict, found.defect) == ("artefact", "activation: ignored")
    assert judged("activation: ignored", 9).verdict == "not yet tested", "relu's corrected arm has ten iterations"
    assert judged("padding: both", 10).verdict == "not yet tested", "another defect"


def test_a_flaw_that_was_tried_and_gives_nothing_leaves_a_contradiction() -> None:
    """With activations ignored the arms still differ: the flaw does not explain the claim, and it stands
    contradicted."""
    lite = read([grids.record("minigpt", losses=LOSSES), grids.record("minigpt", "gelu", (2.5, 2.6, 2.7))])
    ignored = read([grids.record("minigpt", "gelu", (2.4, 2.5, 2.6))])
    evidence = Evidence({"lite": lite}, {("activation: ignored", 10): ignored})
    assert recorded.identical(["minigpt"])(evidence).verdict == "contradicted"


def test_records_of_another_scale_decide_nothing() -> None:
    """A claim of full scale, records at lite scale: neither for it nor against it, whatever they give; an artefact may
    be shown there."""
    check = recorded.claimed(("full",), recorded.values("charlm", ["relu"], {"val_loss": 2.1}, recorded.ANY))
    for losses in ((2.09, 2.1, 2.11), (4.0, 4.1, 4.2)):
        record = grids.record(losses=losses)
        assert check(arms(record)).verdict == "not yet tested"
        assert "the claim is of full scale" in check(arms(record)).ours
        assert check(arms(record, scale="full")).verdict == ("replicated" if losses[0] < 3 else "contradicted")
    lite = read([grids.record("minigpt", losses=LOSSES), grids.record("minigpt", "gelu", (2.5, 2.6, 2.7))])
    ignored = {("activation: ignored", 10): read([grids.record("minigpt", "gelu", LOSSES)])}
    assert (
        recorded.claimed(("full",), recorded.identical(["minigpt"]))(Evidence({"lite": lite}, ignored)).verdict
        == "artefact"
    )


def test_a_number_that_an_untried_flaw_could_have_given_is_not_contradicted() -> None:
    """Far from ours, but with a known flaw of the published work that nothing has tried; without one it is
    contradicted."""
    check = recorded.values("charlm", ["relu"], {"relative_pd": 0.9}, LITE)
    mine = arms(grids.record())
    assert check(mine).verdict == "contradicted"
    found = recorded.excused("pairing: unpaired", check)(mine)
    assert found.verdict == "not yet tested"
    assert found.ours.endswith("a flaw that could explain it has no record: predictions on different inputs")


def test_a_leak_spares_the_other_models() -> None:
    """convlm's loss is 2 beside charlm's 4; padded on both sides it is 0.04: charlm, which the flaw does not touch,
    stands for itself."""
    cells = [("charlm", "relu"), ("convlm", "relu")]
    check = recorded.quantity(
        "ratio", (50.0, np.inf), cells, "val_loss", lambda m: m[0] / m[1], LITE, defect="padding: both"
    )
    charlm, convlm = grids.record(losses=(4.0, 4.01, 3.99)), grids.record("convlm", losses=(2.0, 2.01, 1.99))
    leaking = {("padding: both", 10): read([grids.record("convlm", losses=(0.04, 0.0401, 0.0399))])}
    assert check(Evidence({"lite": read([charlm, convlm])}, leaking)).verdict == "artefact"
    assert (
        check(Evidence({"lite": read([charlm, convlm])}, {("padding: both", 9): leaking["padding: both", 10]})).verdict
        == "not yet tested"
    )


def test_the_first_record_is_dated() -> None:
    """A finding says when the first of the records that it read was made."""
    early, late = grids.record(), grids.record(activation="gelu")
    late["provenance"] = late["provenance"] | {"date": "2026-02-02T00:00:00+00:00"}
    assert recorded.identical(["charlm"])(arms(late, early)).since == "2026-01-01T00:00:00+00:00"
    assert recorded.identical(["charlm"])(arms(early)).since == ""


def test_a_corrected_arm_stands_for_no_ignored_one() -> None:
    """Of three activations only gelu was run with its name ignored: swish's own, corrected arm says nothing of the
    flaw."""
    lite = read(
        [
            grids.record("minigpt", activation=a, losses=(2.0 + i, 2.1, 2.2))
            for i, a in enumerate(("relu", "gelu", "swish"))
        ]
    )
    evidence = Evidence(
        {"lite": lite}, {("activation: ignored", 10): read([grids.record("minigpt", activation="gelu", losses=LOSSES)])}
    )
    assert recorded.identical(["minigpt"], ("relu", "gelu"))(evidence).verdict == "artefact"
    assert recorded.identical(["minigpt"], ("relu", "gelu", "swish"))(evidence).verdict == "not yet tested"


def test_sensitivity_is_the_published_cv() -> None:
    """Two arms whose mean PDs are 0.11 + 1/60 and 0.31 + 1/60: CV% of those (ddof 0) is compatible, 0 is not."""
    one, two = grids.record(pd=0.1, losses=(2.0,) * 5), grids.record(activation="gelu", pd=0.3, losses=(2.0,) * 5)
    means = [np.mean([pd + 0.01 * (i + j) for i in range(5) for j in range(i + 1, 5)]) for pd in (0.1, 0.3)]
    true = 100 * np.std(means) / np.mean(means)
    assert recorded.sensitivity("charlm", true, ["relu", "gelu"], LITE)(arms(one, two)).verdict == "compatible"
    assert recorded.sensitivity("charlm", 0.0, ["relu", "gelu"], LITE)(arms(one, two)).verdict == "contradicted"


def test_quantity() -> None:
    """Loss of the second arm over the first's, about 1.5: [1.4, 1.6] meets the interval, [3, 4] does not; two trials
    leave it open."""
    three = [grids.record(losses=(2.0, 2.01, 1.99)), grids.record(activation="gelu", losses=(3.0, 3.01, 2.99))]
    cells = [("charlm", "gelu"), ("charlm", "relu")]

    def judge(published: tuple[float, float], records: list[Record]) -> str:
        return recorded.quantity("ratio", published, cells, "val_loss", lambda m: m[0] / m[1], LITE)(
            arms(*records)
        ).verdict

    assert judge((1.4, 1.6), three) == "replicated"
    assert judge((3.0, 4.0), three) == "contradicted"
    one = [grids.record(losses=(2.0,)), grids.record(activation="gelu", losses=(3.0,))]
    assert judge((3.0, 4.0), one) == "not yet tested"


@pytest.mark.parametrize(("claimed", "verdict"), [("relu", "replicated"), ("gelu", "contradicted")])
def test_lowest(claimed: str, verdict: str) -> None:
    """relu's PD is far below gelu's and swish's."""
    records = [
        grids.record(activation=a, pd=pd, losses=(2.0,) * 5) for a, pd in (("relu", 0.1), ("gelu", 0.3), ("swish", 0.5))
    ]
    found = recorded.lowest({"charlm": [claimed]}, ("relu", "gelu", "swish"), "relative_pd", LITE)(arms(*records))
    assert found.verdict == verdict
    average = recorded.average_lowest(claimed, ("relu", "gelu", "swish"), ["charlm"], "relative_pd", LITE)(
        arms(*records)
    )
    assert average.verdict == verdict


def test_nobody_is_lowest_among_equals() -> None:
    """Arms that cannot be told apart leave it open."""
    records = [
        grids.record(activation=a, losses=losses)
        for a, losses in (("relu", (2.0, 2.4, 2.1)), ("gelu", (2.3, 2.0, 2.2)))
    ]
    assert (
        recorded.lowest({"charlm": ["relu"]}, ("relu", "gelu"), "val_loss", LITE)(arms(*records)).verdict
        == "not yet tested"
    )


def test_never_lower() -> None:
    """An activation that is significantly below the reference in one model has a benefit; where it may be 10% below,
    that is open."""
    records = [grids.record(losses=(3.0, 3.1, 3.2)), grids.record(activation="gelu", losses=(2.0, 2.11, 2.2))]
    found = recorded.never_lower("gelu", "relu", ["charlm"], "val_loss", LITE)(arms(*records))
    assert found.verdict == "contradicted"
    assert "significantly below in 1 of 1 models (charlm)" in found.ours
    assert recorded.never_lower("relu", "gelu", ["charlm"], "val_loss", LITE)(arms(*records)).verdict == "replicated"
    wide = [grids.record(losses=(3.0, 3.1, 3.2)), grids.record(activation="gelu", losses=(3.4, 2.5, 3.3))]
    assert recorded.never_lower("gelu", "relu", ["charlm"], "val_loss", LITE)(arms(*wide)).verdict == "not yet tested"


def test_order_of_models_and_the_highest() -> None:
    """Losses 2, 3, 4 of three models: rising in this order and in no other."""
    levels = {"charlm": 2.0, "minigpt": 3.0, "convlm": 4.0}
    evidence = arms(
        *[grids.record(m, losses=(v, v + 0.11, v + 0.2 + 0.01 * i)) for i, (m, v) in enumerate(levels.items())]
    )
    for models, verdict in ((list(levels), "replicated"), (["convlm", "minigpt", "charlm"], "contradicted")):
        assert recorded.ordered(models, "val_loss", "relu", LITE)(evidence).verdict == verdict
    assert recorded.highest("convlm", ["charlm", "minigpt"], "val_loss", "relu", LITE)(evidence).verdict == "replicated"
    assert (
        recorded.highest("charlm", ["convlm", "minigpt"], "val_loss", "relu", LITE)(evidence).verdict == "contradicted"
    )


def test_two_metrics_are_not_one() -> None:
    """Churn raised by 0.2 in every pair is not total variation; untouched it is."""
    record = grids.record(losses=(2.0,) * 5)
    assert (
        recorded.same_metric("churn", "total_variation", ["charlm"], "relu", LITE)(arms(record)).verdict == "replicated"
    )
    for i, pair in enumerate(record["reproducibility_metrics"]):
        pair["churn"] += 0.2 + 0.001 * i
    assert (
        recorded.same_metric("churn", "total_variation", ["charlm"], "relu", LITE)(arms(record)).verdict
        == "contradicted"
    )


def test_correlation_over_models_is_exact() -> None:
    """Six models in perfect order: p = 2 / 720; four of them: p = 2 / 24, which decides nothing."""
    models = ["charlm", "minigpt", "nanotransformer", "convlm", "hybridlm", "tinylstm"]
    evidence = arms(*[grids.record(m, pd=0.1 + 0.1 * i, losses=(4.0 - 0.3 * i,) * 3) for i, m in enumerate(models)])
    six = recorded.correlated("total_variation", "val_accuracy", models, "relu", LITE)(evidence)
    assert six.verdict == "replicated"
    assert f"{2 / 720:.3f}" in six.ours
    assert recorded.correlated("total_variation", "val_loss", models, "relu", LITE)(evidence).verdict == "contradicted"
    assert (
        recorded.correlated("total_variation", "val_accuracy", models[:4], "relu", LITE)(evidence).verdict
        == "not yet tested"
    )


def test_settings_are_read_from_records() -> None:
    """What was run as stated is replicated; what was run otherwise is not thereby wrong, only untested, and it is said
    how it was run."""
    evidence = arms(grids.record())
    for stated, verdict in ((3, "replicated"), (4, "not yet tested"), (2, "not yet tested")):
        check = recorded.setting(
            "trials",
            [("charlm", "relu")],
            lambda arm, n=stated: len(arm.labels) == n,
            lambda arm: len(arm.labels),
            LITE,
        )
        assert check(evidence).verdict == verdict
        assert (
            check(evidence).ours
            == ("" if verdict == "replicated" else "run otherwise than stated: ") + "recorded trials: 3"
        )


def test_five_trials_are_not_three() -> None:
    """The front page's three trials an arm: run with three, they are as stated; with five they are not."""
    claim = next(claim for claim in readme.CLAIMS if claim.id == "R57")
    for trials, verdict in ((3, "replicated"), (5, "not yet tested")):
        records = [grids.record(model, losses=(2.0,) * trials) for model in recorded.SIX]
        assert claim.test(arms(*records)).verdict == verdict


def test_across_scales() -> None:
    """A loss that halves from one scale to the other: -50%; without one of the scales it waits."""
    small, large = grids.record(losses=(4.0, 4.01, 3.99)), grids.record(losses=(2.0, 2.01, 1.99))
    check = recorded.AcrossScales(
        "change", (-51, -49), [("charlm", "relu")], "val_loss", lambda m: 100 * (m[1] / m[0] - 1)
    )
    both = Evidence({"partial": read([small]), "full": read([large])})
    assert check(both).verdict == "replicated"
    assert check(Evidence({"partial": read([large]), "full": read([small])})).verdict == "contradicted"
    assert check(arms(small, scale="partial")).verdict == "not yet tested"
