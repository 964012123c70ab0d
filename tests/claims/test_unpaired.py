"""Artefacts of reading two models on different inputs, on made-up readings with known answers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support import grids

from actlab.claims import recorded
from actlab.claims.evidence import Evidence, by_defect
from actlab.claims.unpaired import MIXED, UNPAIRED, MixedMetrics, OneSet, ReadUnpaired, TradeOff
from actlab.records.autopsy import Reading
from actlab.records.repro import ArmResults, read

LITE = ("lite",)
GRID = {"lite": read([grids.record(losses=(2.0,) * 5), grids.record(activation="swiglu", losses=(2.0,) * 5)])}


def reading(
    activation: str, two: float, one: float, relative: float = 0.9, accuracy: float = 30.0, model: str = "charlm"
) -> Reading:
    """An arm of three trials: ``two`` between models, ``one`` of a model with itself."""
    record = grids.record(model, activation)
    other = {"relative_pd": relative, "churn": 0.8}
    pairs = [pair | {"coded_pd": two, **other} for pair in record["reproducibility_metrics"]]
    itself = [{"between": [t["label"]] * 2, "coded_pd": one, **other} for t in record["trials"]]
    for trial in record["trials"]:
        trial["final"]["val_accuracy"] = accuracy
    record["config"] |= {"protocol": ["activation: ignored", UNPAIRED], "recipe": {"iterations": 200}}
    return Reading(ArmResults(record | {"as_published": {"pairs": pairs, "itself": itself, "trials": []}}))


def on(*found: Reading) -> dict[tuple[str, str], Reading]:
    """By model and activation."""
    return {(r.arm.model, r.arm.activation): r for r in found}


@pytest.mark.parametrize(
    ("two", "one", "verdict"), [(0.60, 0.60, "artefact"), (0.60, 0.30, "contradicted"), (0.80, 0.80, "contradicted")]
)
def test_a_reading_explains_a_number(two: float, one: float, verdict: str) -> None:
    """0.6 was published and correct pairs give 0.13: an artefact only if 0.6 is also what a model gives with itself."""
    correct = recorded.values("charlm", ["relu"], {"relative_pd": 0.6}, LITE)
    check = ReadUnpaired(correct, "charlm", "relu", 0.6, stated=200)
    found = check(Evidence(GRID, readings=on(reading("relu", two, one))))
    assert (found.verdict, found.defect) == (verdict, UNPAIRED if verdict == "artefact" else "")
    assert check(Evidence(GRID)).verdict == "not yet tested", "the flaw that could explain it has no record"
    longer = replace(check, stated=500)(Evidence(GRID, readings=on(reading("relu", two, one))))
    assert longer.verdict == "not yet tested", "nor has it one of the stated length"


def test_a_number_may_be_one_of_single_characters() -> None:
    """Of the published reading's two metrics the claim's own is taken: 0.9 is its relative PD, 0.6 its total
    variation."""
    correct = recorded.values("charlm", ["relu"], {"relative_pd": 0.9}, LITE)
    evidence = Evidence(GRID, readings=on(reading("relu", 0.6, 0.6)))
    assert ReadUnpaired(correct, "charlm", "relu", 0.9, 200, "relative_pd")(evidence).verdict == "artefact"
    assert ReadUnpaired(correct, "charlm", "relu", 0.9, 200)(evidence).verdict == "contradicted"


def test_one_set_of_inputs_is_refuted_by_a_number_of_many() -> None:
    """0.6 is what different inputs give, also of a model with itself, and correct pairs give 0.12: there was no fixed
    set."""
    check = OneSet(
        ReadUnpaired(recorded.values("charlm", ["relu"], {"relative_pd": 0.6}, LITE), "charlm", "relu", 0.6, 200)
    )
    for two, one, verdict in ((0.6, 0.6, "contradicted"), (0.6, 0.3, "not yet tested"), (0.12, 0.12, "not yet tested")):
        assert check(Evidence(GRID, readings=on(reading("relu", two, one)))).verdict == verdict
    assert check(Evidence(GRID)).verdict == "not yet tested"
    longer = OneSet(replace(check.number, stated=500))
    assert longer(Evidence(GRID, readings=on(reading("relu", 0.6, 0.6)))).verdict == "not yet tested", (
        "other iterations"
    )


def test_a_trade_off_of_a_model_with_itself_is_none() -> None:
    """Accuracy rises with the reading of six models: with themselves too, or not. What correct pairs leave open, no
    reading decides."""
    open_ = TradeOff(recorded.correlated("total_variation", "val_accuracy", ["charlm"], "relu", LITE))
    check = TradeOff(recorded.setting("x", [("charlm", "relu")], lambda arm: False, lambda arm: "", LITE))
    check = TradeOff(replace(check.correct, kind="outcome"))  # fails when read correctly
    rising = [reading("relu", 0.1 * i, 0.1 * i, accuracy=10.0 * i, model=str(i)) for i in range(6)]
    flat = [reading("relu", 0.1 * i, 0.1 * (i % 2), accuracy=10.0 * i, model=str(i)) for i in range(6)]
    assert check(Evidence(GRID, readings=on(*rising))).verdict == "artefact"
    assert open_(Evidence(GRID, readings=on(*rising))).verdict == "not yet tested"
    assert "of a model with itself 1.00" in open_(Evidence(GRID, readings=on(*rising))).ours
    assert check(Evidence(GRID, readings=on(*flat))).verdict == "contradicted"
    assert check(Evidence(GRID, readings=on(*rising[:5]))).verdict == "contradicted"
    alone = {
        ("charlm", str(i)): r
        for i, r in enumerate(reading("relu", 0.1 * i, 0.1 * i, accuracy=10.0 * i) for i in range(6))
    }
    assert check(Evidence(GRID, readings=alone)).verdict == "contradicted"
    rising[5].arm.record["config"]["protocol"].append("padding: both")
    assert check(Evidence(GRID, readings=on(*rising))).verdict == "contradicted"


@pytest.mark.parametrize(("swiglu", "verdict"), [(0.6, "artefact"), (0.4, "contradicted"), (0.75, "contradicted")])
def test_one_table_with_two_metrics(swiglu: float, verdict: str) -> None:
    """swiglu's coded value below relu's element-wise 0.9: an artefact if relu's own coded value (0.6) is no larger."""
    quantity = recorded.quantity(
        "x", (44.5, 45.5), [("charlm", "swiglu"), ("charlm", "relu")], "val_loss", lambda m: m[0] - m[1], LITE
    )
    check = MixedMetrics(quantity, "charlm", "swiglu", "relu", published=0.33, stated=200)
    found = check(Evidence(GRID, readings=on(reading("relu", 0.6, 0.6), reading("swiglu", swiglu, swiglu))))
    assert (found.verdict, found.defect) == (verdict, MIXED if verdict == "artefact" else "")
    longer = replace(check, stated=500)(
        Evidence(GRID, readings=on(reading("relu", 0.6, 0.6), reading("swiglu", swiglu, swiglu)))
    )
    assert longer.verdict == "not yet tested", "other iterations"


def test_each_defect_has_the_arms_that_it_changed() -> None:
    """An arm stands under every defect that was on in it, and one that trained without any under the empty name."""
    arm = reading("relu", 0.6, 0.6).arm.record
    flawed = by_defect([arm, grids.record(activation="gelu"), grids.baseline()])
    end = arm["trials"][0]["final"]["iteration"]
    assert set(flawed) == {("activation: ignored", end), (UNPAIRED, end), ("", end)}
    assert set(flawed["activation: ignored", end].arms) == {("charlm", "relu")}
    assert set(flawed["", end].arms) == {("charlm", "gelu")}, "no defect changed it while it trained"
