"""Reading the grid: records become matrices and estimates, and nothing is made up on the way."""

import grids
import numpy as np
import pytest

from actlab.records.arm_results import ArmResults
from actlab.statistics.means import mean_interval


def test_estimates_are_those_of_the_statistics_package():
    """Of one value a trial, and of the symmetric matrix of its pairs; a trial that is not done counts in no mean and is
    listed; curves have a row a trial."""
    arm = ArmResults(grids.record(losses=(1.0, 2.0, 4.0, 99.0), status={3: "diverged"}))
    nan = np.nan
    expected = [[nan, 0.11, 0.12, nan], [0.11, nan, 0.13, nan], [0.12, 0.13, nan, nan], [nan] * 4]
    np.testing.assert_allclose(arm.matrix("churn"), expected)
    curve = arm.curve("val_loss")
    assert (list(curve), len(curve), arm.not_done) == ([0, 5, 10], 4, ["45: diverged"])
    assert arm.estimate("val_loss") == mean_interval([1.0, 2.0, 4.0])
    assert arm.estimate("churn") == mean_interval(arm.matrix("churn"))
    assert arm.estimate("best_val_loss").value == pytest.approx(7 / 3 - 0.05)


def test_differences_are_paired_by_seed():
    """Trials that all shift by the same amount differ by it exactly, however much they scatter."""
    relu, gelu = (
        ArmResults(grids.record(losses=losses, pd=pd))
        for losses, pd in (((1.0, 5.0, 9.0), 0.1), ((1.5, 5.5, 9.5), 0.3))
    )
    for metric, value in (("val_loss", 0.5), ("churn", 0.2)):
        found = gelu.minus(relu, metric)
        assert (found.value, found.high - found.low) == (pytest.approx(value), pytest.approx(0, abs=1e-9))
