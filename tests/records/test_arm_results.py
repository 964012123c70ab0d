"""Reading the grid: records become matrices and estimates, and nothing is made up on the way."""

import grids
import numpy as np
import pytest

from actlab.records.arm_results import ArmResults
from actlab.statistics.means import mean_interval


def test_estimates_are_those_of_the_statistics_package():
    """A trial metric gets a t interval, a pair metric a jackknife over trials, from the symmetric matrix of its pairs;
    curves have a row a trial."""
    arm = ArmResults(grids.record(losses=(1.0, 2.0, 4.0)))
    expected = np.array([[np.nan, 0.11, 0.12], [0.11, np.nan, 0.13], [0.12, 0.13, np.nan]])
    np.testing.assert_allclose(arm.matrix("churn"), expected)
    curve = arm.curve("val_loss")
    assert (list(curve), curve.shape) == ([0, 5, 10], (3, 3))
    assert arm.estimate("val_loss") == mean_interval([1.0, 2.0, 4.0])
    assert arm.estimate("total_variation") == mean_interval(arm.matrix("total_variation"))
    assert arm.estimate("best_val_loss").value == pytest.approx(7 / 3 - 0.05)


def test_a_diverged_trial_is_nan_and_named():
    """A trial that is not done counts in no mean and is listed."""
    arm = ArmResults(grids.record(losses=(1.0, 2.0, 3.0, 99.0), status={3: "diverged"}))
    assert arm.not_done == ["45: diverged"]
    assert arm.estimate("val_loss").n == 3
    assert arm.estimate("val_loss").value == pytest.approx(2.0)
    assert np.isnan(arm.matrix("churn")[3]).all()
    assert arm.estimate("churn").n == 3


def test_differences_are_paired_by_seed():
    """Trials that all shift by the same amount differ by it exactly, however much they scatter."""
    relu = ArmResults(grids.record(losses=(1.0, 5.0, 9.0)))
    gelu = ArmResults(grids.record(activation="gelu", losses=(1.5, 5.5, 9.5), pd=0.3))
    loss, churn = gelu.minus(relu, "val_loss"), gelu.minus(relu, "churn")
    assert (loss.value, loss.high - loss.low) == (pytest.approx(0.5), pytest.approx(0, abs=1e-9))
    assert (churn.value, churn.high - churn.low) == (pytest.approx(0.2), pytest.approx(0, abs=1e-9))
