"""Tables and figures of a report show estimates, intervals and n, and say what is missing."""

import grids
import numpy as np

from actlab import report
from actlab.records.labels import METRICS
from actlab.records.repro import read
from actlab.report import MISSING
from actlab.statistics.significance import adjusted


def table(grid, metric="val_loss"):
    found = adjusted({cell: arm.minus(other, metric) for cell, (arm, other) in grid.couples("relu").items()})
    return report.table(grid, METRICS[metric], found)


def test_every_arm_has_a_row_and_a_missing_one_says_so():
    """With interval, n and parameters; the noise floor stands beside a metric of pairs, where it was run."""
    shown = table(grids.grid(), "total_variation")
    assert len(shown) == 6
    assert shown.loc[("tinylstm", "swiglu"), "total variation"] == MISSING
    assert shown.loc[("tinylstm", "gelu"), ["n", "parameters"]].tolist() == ["3, 45: diverged", "1,000"]
    floors = ["same seed again", "one weight moved by one ULP"]
    assert shown.loc[("charlm", "relu"), floors].tolist() == ["0", "1.0e-06"]
    assert shown.loc[("charlm", "gelu"), floors].tolist() == ["", ""]
    assert not {*floors} & {*table(grids.grid())}


def test_an_exact_zero_has_no_place_on_a_logarithmic_axis():
    (axes,) = report.figure_floors(read([grids.record(), grids.floor(nudge=0.0)])).axes
    assert len(axes.containers) == 1


def apart(*values):
    """Three trials of relu whose pairs lie so far apart."""
    pd = np.zeros((3, 3))
    pd[np.triu_indices(3, 1)] = values
    return read([grids.record(pd=pd)])


def test_no_interval_below_zero_where_no_difference_can_lie():
    """The jackknife's limit may lie below 0; what is shown lies above (log scale), or has no interval where too few
    trials differ."""
    arm = apart(0.01, 0.02, 0.3).arms["charlm", "relu"]
    assert arm.estimate("total_variation").low < 0 < arm.shown("total_variation").low
    grid = apart(0.0, 0.0, 0.3)
    arm = grid.arms["charlm", "relu"]
    assert np.isnan(arm.shown("total_variation").low)
    assert "too few trials differ" in table(grid, "total_variation").loc[("charlm", "relu"), "total variation"]
    assert arm.shown("val_loss") == arm.estimate("val_loss")
