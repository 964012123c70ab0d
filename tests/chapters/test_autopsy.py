"""The autopsy: numbers in the words are those of the evidence or of the texts, and what is missing says so."""

from dataclasses import replace

import pytest
from scipy import stats
from tests.support import autopsies

from actlab.chapters.autopsy import anomalies, answer, pictures, table, trained
from actlab.figures.style import NO_RECORD
from actlab.records.autopsy import Autopsy
from actlab.records.repro import read

SAID = {
    ("identical", "on"): "in 15 of 18 evaluations of 2 models",
    ("identical", "off"): "gelu minus relu up to +0.733 [",
    ("leak", "published"): "loss 0.0077 with 41.97% accuracy",
    ("leak", "on"): "0.300 nats after 10 iterations, and 26.0%",
    ("leak", "off"): "2.100 nats",
    ("itself", "on"): "two seeds 0.601, one model 0.591",
    ("itself", "off"): "two seeds 0.120",
    ("plateau", "on"): "character frequencies alone have 3.300",
    ("plateau", "off"): "2.333 nats after 10 iterations",
    ("swiglu", "on"): f"{100 * (1 - 0.611 / 0.9015):.0f}% below relu",
    ("swiglu", "off"): "1.7% above relu in one measure; on the same inputs swiglu minus relu +0.0",
    ("drawn", "on"): "charlm 26.0%, with a standard error of 1.4 points",
    ("drawn", "off"): "charlm 47.9%",
}


@pytest.mark.parametrize(("name", "part"), SAID)
def test_what_each_anomaly_says(name, part):
    """Numbers worked out from the made-up evidence, or from the texts alone."""
    assert SAID[name, part] in getattr(anomalies(autopsies.evidence())[name], part)


def test_the_answer_and_the_table_hold_them():
    evidence = autopsies.evidence()
    assert "two seeds by 0.601. On the same inputs two seeds differ by 0.120 only" in answer(evidence)
    shown, found = table(anomalies(evidence)), anomalies(evidence)
    assert list(shown["ours, defect on"]) == [anomaly.on for anomaly in found.values()]
    assert len(shown) <= 8
    assert set(pictures.CAPTIONS) <= set(found)


def test_without_records_it_waits():
    """No number is invented: both of our columns say that there is no record; the published one stands."""
    assert answer(Autopsy()) == NO_RECORD
    for found in anomalies(Autopsy()).values():
        assert all((found.published, found.source, found.defect))
        assert (found.on, found.off) == (NO_RECORD, NO_RECORD)


@pytest.mark.parametrize("arm", autopsies.evidence().on)
def test_with_some_records_it_says_what_it_can(arm):
    """One arm alone never breaks an anomaly: it is told, or waits."""
    whole = autopsies.evidence()
    found = anomalies(replace(whole, on={arm: whole.on[arm]}))
    assert all(anomaly.on and anomaly.off for anomaly in found.values())


def test_trade_off_has_one_point_an_arm_and_iteration():
    """convlm is left out; a loss of 3 nats halves the reading on different inputs, so that it falls with the loss."""
    evidence = autopsies.evidence()
    arms = (("charlm", "relu"), ("charlm", "swiglu"), ("nanotransformer", "gelu"), ("tinylstm", "gelu"))
    points = trained.points(evidence)
    assert {*points.set_index(["model", "activation", "iteration"]).index} == {
        (*arm, i) for arm in arms for i in (5, 10)
    }
    assert (
        f"two seeds {stats.spearmanr(points['train_loss'], points['between']).statistic:+.2f}"
        in anomalies(evidence)["trade_off"].on
    )


def overfit(best):
    """gelu leads at the last step; its lowest loss lies so far from that."""
    losses = {"relu": (2.5, 2.6, 2.7), "gelu": (2.0, 2.1, 2.21), "swish": (2.9, 3.0, 3.11)}
    arms = {name: autopsies.corrected("charlm", name, values) for name, values in losses.items()}
    for trial in arms["gelu"]["trials"] if best else ():
        trial["best"]["val_loss"] = best + trial["final"]["val_loss"]
    return read(arms.values())


def test_our_runs_that_overfit():
    """gelu leads at the last step and trails at the lowest loss: the rule calls that reproduced, and a comparison that
    the choice decides; where both orders agree it does not."""
    assert "is not reproduced" in trained.rule(overfit(0))
    assert trained.rule(overfit(0.5)).endswith("is reproduced; differences from relu that the choice decides: gelu")
    assert trained.rule(read([autopsies.corrected("charlm", "relu")])).endswith("waits for records of gelu, swish")
    found = anomalies(Autopsy(overfit=overfit(0.5)))["significance"]
    assert found.on == "at the last step gelu < relu < swish; 9 of 9 runs end above their lowest loss"
    assert found.off == "at the lowest loss relu < gelu < swish; differences from relu that depend on it: gelu"


def test_identical_losses_are_drawn_at_zero():
    """nanotransformer's name was ignored: its marks lie at 0, and the corrected activation's line does not."""
    first = pictures.figure_identical(autopsies.evidence()).axes[0]
    marks = next(line for line in first.lines if line.get_marker() == "s")
    assert not marks.get_ydata().any()
    assert any(line.get_ydata()[-1] == pytest.approx(2.2 / 3) for line in first.lines)
