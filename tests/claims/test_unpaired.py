"""Artefacts of reading two models on different inputs, on made-up readings with known answers."""

from __future__ import annotations

import pytest
from tests.support import grids

from actlab.claims import recorded
from actlab.claims.evidence import Evidence, Reading, by_defect, readings
from actlab.claims.unpaired import MIXED, UNPAIRED, MixedMetrics, ReadUnpaired, TradeOff
from actlab.grid import read

LITE = ("lite",)
GRID = {"lite": read([grids.record(losses=(2.0,) * 5), grids.record(activation="swiglu", losses=(2.0,) * 5)])}


def reading(activation: str, two: float, one: float, relative: float = 0.9, accuracy: float = 30.0, model: str = "charlm") -> Reading:
    """One reading: ``two`` between models, ``one`` of a model with itself."""
    pairs = {"coded_pd": two, "relative_pd": relative, "churn": 0.8}
    return Reading(model, activation, 200, accuracy, pairs, pairs | {"coded_pd": one})


@pytest.mark.parametrize(("two", "one", "verdict"), [(0.60, 0.60, "artefact"), (0.60, 0.30, "contradicted"), (0.80, 0.80, "contradicted")])
def test_a_reading_explains_a_number(two: float, one: float, verdict: str) -> None:
    """0.6 was published and correct pairs give 0.13: an artefact only if 0.6 is also what a model gives with itself."""
    check = ReadUnpaired(recorded.values("charlm", ["relu"], {"relative_pd": 0.6}, LITE), "charlm", "relu", 0.6)
    found = check(Evidence(GRID, readings=(reading("relu", two, one),)))
    assert (found.verdict, found.defect) == (verdict, UNPAIRED if verdict == "artefact" else "")
    assert check(Evidence(GRID)).verdict == "contradicted"


def test_a_trade_off_of_a_model_with_itself_is_none() -> None:
    """Accuracy rises with the reading of six models: with themselves too, or not."""
    check = TradeOff(recorded.correlated("total_variation", "val_accuracy", ["charlm"], "relu", LITE))
    rising = [reading("relu", 0.1 * i, 0.1 * i, accuracy=10.0 * i) for i in range(6)]
    flat = [reading("relu", 0.1 * i, 0.0 if i % 2 else 0.1, accuracy=10.0 * i) for i in range(6)]
    assert check(Evidence(GRID, readings=tuple(rising))).verdict == "artefact"
    assert check(Evidence(GRID, readings=tuple(flat))).verdict == "not yet tested"
    assert check(Evidence(GRID, readings=tuple(rising[:5]))).verdict == "not yet tested"


@pytest.mark.parametrize(("swiglu", "verdict"), [(0.6, "artefact"), (0.4, "contradicted"), (0.75, "contradicted")])
def test_one_table_with_two_metrics(swiglu: float, verdict: str) -> None:
    """swiglu's coded value below relu's element-wise 0.9: an artefact if relu's own coded value (0.6) is no larger."""
    quantity = recorded.quantity("x", (44.5, 45.5), [("charlm", "swiglu"), ("charlm", "relu")], "val_loss", lambda m: m[0] - m[1], LITE)
    check = MixedMetrics(quantity, "charlm", "swiglu", "relu")
    found = check(Evidence(GRID, readings=(reading("relu", 0.6, 0.6), reading("swiglu", swiglu, swiglu))))
    assert (found.verdict, found.defect) == (verdict, MIXED if verdict == "artefact" else "")


def test_records_become_readings_and_flawed_grids() -> None:
    """The block ``as_published`` at the end and along the way; each defect has the arms that it changed."""
    record = grids.record()
    pair = {"coded_pd": 0.5, "relative_pd": 0.9, "churn": 0.8}
    block = {"pairs": [pair, pair | {"coded_pd": 0.7}], "itself": [pair]}
    record["config"]["protocol"] = ["padding: both", "pairing: unpaired"]
    record |= {"as_published": block, "trajectory": [{"iteration": 5, "trials": [{"iteration": 5, "val_accuracy": 20.0}], "as_published": block}]}
    end, early = readings([record, grids.record(), grids.baseline()])
    assert (end.iteration, early.iteration, early.accuracy) == (10, 5, 20.0)
    assert (end.pairs["coded_pd"], end.itself["coded_pd"]) == pytest.approx((0.6, 0.5))
    flawed = by_defect([record, grids.record(activation="gelu")])
    assert set(flawed) == {"padding: both", "pairing: unpaired"}
    assert set(flawed["padding: both"].arms) == {("charlm", "relu")}
