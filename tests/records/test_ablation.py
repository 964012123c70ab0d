"""The ablation read from records: seeds in order, one rate, missing as missing, known effects, single batches."""

import math

import numpy as np
import pytest
from ablations import made_up, record, records

from actlab.errors import BadInput
from actlab.records import ablation
from actlab.records.tables import levels


def test_values_come_in_the_order_of_seeds():
    """Of every arm the same seeds at the same places; a missing arm is NaN; levels in the study's order."""
    f = made_up()
    losses = [t["final"]["val_loss"] for t in record("ecd", "bQbV", "gelu")["trials"]]
    assert f.values("ecd", "bQbV", "gelu").tolist() == losses
    assert np.isnan(f.values("ecd", "bQ", "gelu")).tolist() == [True] * 3
    assert levels(f.trials, "optimizer") == ["ecd", "adamw", "sgdm", "soap"]


def test_the_rate_of_most_arms_is_read():
    """Of two rates with as many arms, the one nearer to the published; the others stand in ``rates``."""
    every = [record("ecd", "bQbV", "gelu", f) for f in (10.0, 0.333, 3.0, 1.0)]
    assert levels(ablation.read(every).trials, "rate_factor") == [1.0]
    assert levels(ablation.read([*every, record("ecd", "symmetric", "gelu", 3.0)]).trials, "rate_factor") == [3.0]
    single = ablation.rates([*every, record("ecd", "symmetric", "gelu", 0.1, seeds=1)])["ecd"]
    assert list(single) == [0.1, 0.333, 1.0, 3.0, 10.0]
    assert math.isnan(single[0.1].low), "a rate of one seed has a value and no interval"


def test_a_diverged_trial_is_no_number():
    """It keeps its row and its status, and has no loss."""
    broken = record("ecd", "bQbV", "gelu")
    broken["trials"][1] |= {"status": "diverged"}
    f = ablation.read([{"kind": "baseline"}, broken])
    assert np.isnan(f.values("ecd", "bQbV", "gelu")).tolist() == [False, True, False]
    assert f.trials["status"].tolist() == ["done", "diverged", "done"]


def test_other_settings_are_not_mixed():
    """Losses of two vocabularies, sizes or lengths cannot be compared."""
    with pytest.raises(BadInput, match=r"cannot be read together: dataset=novels.*; dataset=pydoc"):
        ablation.read([record("ecd", "bQbV", "gelu"), record("ecd", "symmetric", "gelu", dataset="pydoc")])


def test_averages_and_interaction():
    """-0.2 on average; -0.3 under PReLU minus -0.1 under GELU. A missing cell leaves none."""
    assert ablation.symmetry(made_up()).value == pytest.approx(-0.2, abs=0.01)
    assert ablation.interaction(made_up()).value == pytest.approx(-0.2, abs=0.01)
    assert not ablation.interaction(made_up(gain={"gelu": 0.1, "random_prelu": 0.1})).excludes(0.0)
    for f in (ablation.read(records()[:-1]), ablation.read([])):
        assert (ablation.symmetry(f).n, ablation.interaction(f).n) == (0, 0)


def test_the_lowest_of_many_batches_is_optimistic():
    """The lowest of 122 normal draws of sd 0.25 lies about 2.5 sd below the mean; a short text has one batch, and
    nothing is said."""
    found = ablation.batches(made_up())
    assert found.evaluations == 122
    assert found.spread == pytest.approx(0.25, abs=0.05)
    assert 2 < found.optimism / found.spread < 3.2
    short = record("adamw", "symmetric", "gelu")
    for trial in short["trials"]:
        trial["analyses"]["batch_losses"] = [4.0]
    assert ablation.batches(ablation.read([short])) is None
    assert ablation.batches(ablation.read([])) is None
