"""The autopsy: numbers in the words are those of the committed records, worked out here plainly, or of the
texts."""

from dataclasses import replace

import grids
import numpy as np
import pytest

from actlab.records.repro import read
from actlab_audit import readings
from actlab_audit.autopsy import anomalies, pictures, table, trained


@pytest.fixture
def evidence(committed):
    return readings.gather()


def mean(entries, name):
    return pytest.approx(np.mean([entry[name] for entry in entries]))


def test_readings_are_the_records_own_numbers(evidence):
    """Different inputs, one model, same inputs, losses: each from its own block, at every snapshot and at the end."""
    assert len(evidence.on) > 4
    for reading in evidence.on.values():
        record = reading.arm.record
        end = {"trials": [trial["final"] for trial in record["trials"]], "pairs": record["reproducibility_metrics"]}
        steps = [
            *record.get("trajectory", []),
            end | {"iteration": reading.end, "as_published": record["as_published"]},
        ]
        assert reading.iterations == [at["iteration"] for at in steps]
        for at in steps:
            step, published = at["iteration"], at["as_published"]
            assert reading.between(iteration=step).value == mean(published["pairs"], "coded_pd")
            assert reading.between("relative_pd", step).value == mean(published["pairs"], "relative_pd")
            assert reading.itself(iteration=step).value == mean(published["itself"], "coded_pd")
            assert reading.paired(step).value == mean(at["pairs"], "total_variation")
            assert reading.value("train_loss", step).value == mean(at["trials"], "train_loss")
        assert reading.published().value == mean(record["as_published"]["trials"], "val_accuracy")
        assert reading.between().n == len(record["trials"])


def test_what_each_anomaly_says(evidence):
    """Of the readings, of the corrected records at as many iterations, and of the texts."""
    found, relu, leak = anomalies(evidence), evidence.on["charlm", "relu"], evidence.on["convlm", "relu"]
    causal = evidence.off.arms["convlm", "relu"].record["trials"]
    late = [e["val_loss"] for trial in causal for e in trial["history"] if e["iteration"] == leak.end]
    accuracy, gated = relu.published().value, evidence.on["charlm", "swiglu"]
    said = {
        ("leak", "published"): "loss 0.0077 with 41.97% accuracy",
        ("leak", "off"): f"{np.mean(late):.3f} nats",
        ("itself", "on"): f"two seeds {relu.between().value:.3f}, one model {relu.itself().value:.3f}",
        ("itself", "off"): f"two seeds {relu.paired().value:.3f}",
        ("plateau", "on"): f"alone have {evidence.off.baseline['unigram']['val_loss']:.3f}",
        ("swiglu", "on"): f"{100 * (1 - gated.between().value / relu.between('relative_pd').value):.0f}",
        ("drawn", "on"): f"error of {np.sqrt(accuracy * (100 - accuracy) / 1000):.1f} points",
    }
    for (name, part), words in said.items():
        assert words in found[name][part], name
    shown = table(found)
    assert list(shown["ours, with the defect"]) == [anomaly["on"] for anomaly in found.values()]
    assert set(pictures.CAPTIONS) <= set(found)


def overfit(best):
    """gelu leads at the last step; its lowest loss lies so far from that."""
    losses = {"relu": (2.5, 2.6, 2.7), "gelu": (2.0, 2.1, 2.21), "swish": (2.9, 3.0, 3.11)}
    arms = {name: grids.record("charlm", name, values) for name, values in losses.items()}
    for trial in arms["gelu"]["trials"] if best else ():
        trial["best"]["val_loss"] = best + trial["final"]["val_loss"]
    return read(arms.values())


def test_our_runs_that_overfit(evidence):
    """gelu leads at the last step and trails at the lowest loss: the rule calls that reproduced, and a comparison that
    the choice decides; where both orders agree it does not."""
    assert "is not reproduced" in trained.rule(overfit(0))
    assert trained.rule(overfit(0.5)).endswith("is reproduced; differences from relu that the choice decides: gelu")
    assert trained.significance(replace(evidence, overfit=overfit(0.5))) == (
        "at the last step gelu < relu < swish; 9 of 9 runs end above their lowest loss",
        "at the lowest loss relu < gelu < swish; differences from relu that depend on it: gelu",
    )


def test_identical_losses_are_drawn_at_zero(evidence):
    """A name that was ignored: hollow marks at 0; the corrected activation's line is not there."""
    drawn = [axes.lines for axes in pictures.figure_identical(evidence).axes if axes.lines]
    assert drawn
    for lines in drawn:
        assert not any(line.get_ydata().any() for line in lines if line.get_linestyle() == "None")
        assert any(line.get_ydata().any() for line in lines)
