"""Anomalies from records: the numbers in the words are those of the evidence, and what is missing says so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support import autopsies

from actlab.chapters.autopsy import WAITING, headline, overview, shown, trained
from actlab.records.autopsy import Evidence
from actlab.records.store import Record


@pytest.mark.parametrize("anomaly", trained.TRAINED, ids=lambda f: f.__name__)
def test_without_records_it_waits(anomaly: object) -> None:
    """No number is invented: both of our columns say that there is no record; the published one stands."""
    found = anomaly(Evidence())  # type: ignore[operator]
    assert (found.on, found.off) == (WAITING, WAITING)
    assert found.published
    assert found.source
    assert found.defect.endswith(".")


@pytest.mark.parametrize("arm", autopsies.evidence().on)
def test_with_some_records_it_says_what_it_can(arm: tuple[str, str]) -> None:
    """One arm alone never breaks an anomaly: it is told, or waits."""
    whole = autopsies.evidence()
    alone = replace(whole, on={arm: whole.on[arm]})
    assert all(anomaly(alone).on for anomaly in trained.TRAINED)
    assert arm[0] in trained.itself(alone).on


def test_identical_counts_bits_and_digits() -> None:
    """Equal weights of convlm's two names, equal losses of an arm that ignored its activation; corrected arms
    differ."""
    found = trained.identical(autopsies.evidence())
    assert "in 3 of 3 seeds" in found.on
    assert "nanotransformer: the losses of gelu are relu's to the last digit in 9 of 9 evaluations" in found.on
    assert "tinylstm: the losses of gelu are relu's to the last digit in 6 of 9 evaluations" in found.on
    assert "nanotransformer 0.733" in found.off


def test_a_single_other_bit_shows() -> None:
    """Weights that differ in one seed are not counted as equal."""
    evidence = autopsies.evidence()
    record: Record = evidence.on["convlm", "gelu"].arm.record
    record["trials"][1]["weights_sha256"] = "other"
    assert trained.same_weights(evidence) == (2, 3)


def test_leak_sets_loss_beside_two_accuracies() -> None:
    """The loss and accuracy at all positions, the accuracy at last positions, and the causal arm at the same
    iteration."""
    found = trained.leak(autopsies.evidence())
    assert "0.300" in found.on
    assert "26.0%" in found.on
    assert "causal, after 10 iterations: 2.100" in found.off


def test_itself_reads_the_same_trials_three_ways() -> None:
    """Two seeds, one model, and the same inputs."""
    found = trained.itself(autopsies.evidence())
    assert "charlm relu: two seeds 0.601" in found.on
    assert "one model 0.591" in found.on
    assert "charlm relu 0.120" in found.off


def test_trade_off_has_one_point_an_arm_and_iteration() -> None:
    """convlm is left out; a difference that falls with the loss correlates at -1, one that rises at +1."""
    points = trained.points(autopsies.evidence())
    assert {(p["model"], p["activation"], p["iteration"]) for p in points} == {
        (m, a, i)
        for m, a in (("charlm", "relu"), ("charlm", "swiglu"), ("nanotransformer", "gelu"), ("tinylstm", "gelu"))
        for i in (5, 10)
    }
    made_up = [{"train_loss": 3.0 - x, "between": x, "itself": x, "paired": -x} for x in (0.1, 0.2, 0.5)]
    assert trained.correlations(made_up) == pytest.approx({"between": -1.0, "itself": -1.0, "paired": 1.0})


def test_swiglu_gain_mixes_two_measures() -> None:
    """On: total variation of one against the relative PD of the other; off: each measure for both."""
    assert trained.gain(0.5935, 1.0739) == pytest.approx(44.73, abs=0.01)
    found = trained.swiglu(autopsies.evidence())
    assert found.on.endswith(f"on different inputs: {trained.gain(0.611, 1.5 * 0.601):.0f}% below")
    assert "swiglu against relu total variation 1.7% above, relative PD 1.7% above" in found.off
    assert "equal parameters, 10 iterations" in found.off
    assert found.published.endswith("for relu: 45% below")


def test_mixed_measures_make_a_spread() -> None:
    """Where both measures are equal in every arm, mixing them changes nothing; where one is twice the other, it
    does."""
    evidence = autopsies.evidence()
    same = trained.sensitivity(evidence)
    assert same["mixed"] == pytest.approx(same["total variation"])
    for arm in evidence.off.of_model("charlm"):
        for pair in arm.record["reproducibility_metrics"]:
            pair["relative_pd"] = 2 * pair["total_variation"]
    found = trained.sensitivity(evidence)
    assert found["relative PD"] == pytest.approx(found["total variation"])
    assert found["mixed"] > 2 * found["total variation"]
    without = replace(evidence, off=replace(evidence.off, arms={}))
    assert trained.sensitivity_bars(without) == {}


def test_plateau_tells_the_table_and_the_longer_run() -> None:
    """The loss beside the unigram table, one model against itself, and what more training does."""
    found = trained.plateau(autopsies.evidence())
    assert "one model from itself on other inputs by 0.0010" in found.on
    assert "the table of character frequencies has 3.300 nats" in found.off
    assert "trained on to iteration 10, 2.333" in found.off


def test_a_drawn_accuracy_carries_its_own_error() -> None:
    """At 26% and 1,000 positions 1.39 points, more than the published 0.38 between activations; the loss is off by what
    the draw makes of it."""
    assert trained.own_error(26.0) == pytest.approx(1.387, abs=1e-3)
    found = trained.drawn(autopsies.evidence())
    assert found.published.endswith("0.38 points from first to last")
    assert "charlm relu 26.0% [26.0, 26.0], n = 3, own error 1.4 points a trial, loss off by -0.0900 nats" in found.on
    assert "charlm relu 47.9%" in found.off


def test_tables() -> None:
    """One anomaly in two columns, all of them in rows."""
    anomalies = [f(autopsies.evidence()) for f in trained.TRAINED]
    assert shown(anomalies[0]).loc["ours, defect on"].item() == anomalies[0].on
    assert list(overview(anomalies).index) == [a.title for a in anomalies]
    assert len(set(overview(anomalies).index)) == len(anomalies)
    assert (headline("one number"), headline("one; two; three")) == ("one number", "one; ...")
    assert all("; " not in text.removesuffix("; ...") for text in overview(anomalies)["ours, defect on"])
