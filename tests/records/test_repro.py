"""Reading the grid: records become matrices and estimates, and nothing is made up on the way."""

import numpy as np
import pytest
from tests.support import grids

from actlab.chapters.repro import association
from actlab.records.repro import read
from actlab.statistics.means import mean_interval, pair_mean


def test_estimates_are_those_of_the_statistics_package():
    """A trial metric gets a t interval, a pair metric a jackknife over trials, from the symmetric matrix of its pairs;
    curves have a row a trial."""
    arm = read([grids.record(losses=(1.0, 2.0, 4.0))]).arms["charlm", "relu"]
    expected = np.array([[np.nan, 0.11, 0.12], [0.11, np.nan, 0.13], [0.12, 0.13, np.nan]])
    np.testing.assert_allclose(arm.matrix("churn"), expected)
    curve = arm.curve("val_loss")
    assert (list(curve), curve.shape) == ([0, 5, 10], (3, 3))
    assert arm.estimate("val_loss") == mean_interval([1.0, 2.0, 4.0])
    assert arm.estimate("total_variation") == pair_mean(arm.matrix("total_variation"))
    assert arm.estimate("best_val_loss").value == pytest.approx(7 / 3 - 0.05)


def test_a_diverged_trial_is_nan_and_named():
    """A trial that is not done counts in no mean and is listed."""
    arm = read([grids.record(losses=(1.0, 2.0, 3.0, 99.0), status={3: "diverged"})]).arms["charlm", "relu"]
    assert arm.not_done == ["45: diverged"]
    assert arm.estimate("val_loss").n == 3
    assert arm.estimate("val_loss").value == pytest.approx(2.0)
    assert np.isnan(arm.matrix("churn")[3]).all()
    assert arm.estimate("churn").n == 3


def test_differences_are_paired_by_seed():
    """Trials that all shift by the same amount differ by it exactly, however much they scatter."""
    results = read(
        [grids.record(losses=(1.0, 5.0, 9.0)), grids.record(activation="gelu", losses=(1.5, 5.5, 9.5), pd=0.3)]
    )
    gelu, relu = results.arms["charlm", "gelu"], results.arms["charlm", "relu"]
    loss, churn = gelu.minus(relu, "val_loss"), gelu.minus(relu, "churn")
    assert (loss.value, loss.high - loss.low) == (pytest.approx(0.5), pytest.approx(0, abs=1e-9))
    assert (churn.value, churn.high - churn.low) == (pytest.approx(0.2), pytest.approx(0, abs=1e-9))


def test_missing_arms_are_missing():
    """An arm without a record has no place; one without a noise floor has NaN there."""
    results = grids.grid()
    assert results.arms["charlm", "relu"].floor_of("churn", "repeat") == 0
    assert results.arms["charlm", "relu"].floor_of("churn", "nudge") == 1e-6
    assert np.isnan(results.arms["charlm", "gelu"].floor_of("churn", "nudge"))
    assert ("tinylstm", "swiglu") not in results.arms
    assert read([]).arms == {}


def test_association_follows_the_order_of_the_differences():
    """Four activations whose total variation falls as their loss rises: -1 in every leave-one-out, so the interval is a
    point; the reverse: +1."""
    shifts = {"gelu": 0.1, "swish": 0.2, "smelu_1": 0.3, "mish": 0.4}
    for sign in (-1, 1):
        records = [grids.record(losses=(1.0, 2.0, 3.0), pd=0.5)]
        records += [
            grids.record(activation=a, losses=(1.0 + s, 2.0 + s, 3.0 + s), pd=0.5 + sign * s) for a, s in shifts.items()
        ]
        arms = read(records).arms
        found = association([(arms["charlm", a], arms["charlm", "relu"]) for a in shifts])
        assert (found.value, found.low, found.high, found.n) == pytest.approx((sign, sign, sign, 3))
    assert np.isnan(association([(arms["charlm", "gelu"], arms["charlm", "relu"])] * 2).value)


def test_arms_that_differ_in_more_are_named_by_it():
    """One model and activation under two streams: rows of their own, compared within themselves."""
    records = [grids.record(), grids.record(activation="gelu"), grids.record(), grids.baseline()]
    records[2]["arm"] = "charlm-relu-init"
    records[2]["config"] |= {"varies": "init", "fixed": 42}
    found = read(records)
    assert found.models == ("charlm, varies=all", "charlm, varies=init")
    assert ("charlm, varies=init", "gelu") not in found.arms
    assert found.arms["charlm, varies=init", "relu"].model == "charlm, varies=init"
    assert found.baseline
