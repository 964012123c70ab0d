"""Tables and figures of a report show estimates, intervals and n, and say what is missing."""

import grids
import numpy as np

from actlab import report
from actlab.records.labels import small
from actlab.report import summary


def made_up():
    """Two architectures; one arm with a noise floor and one with a diverged trial, one activation missing in one."""
    return [
        grids.record(),
        grids.record(activation="swiglu", pd=0.3),
        grids.record(model="tinylstm", status={2: "diverged"}),
        grids.floor(),
        grids.baseline(),
    ]


def loaded(*records):
    grids.save(*records)
    return report.load("made-up")


def table(found, metric="val_loss"):
    return summary.table(found, found.metrics[metric])


def test_every_arm_has_a_row_and_a_missing_one_says_so():
    """With interval and n; the noise floor stands beside a metric of pairs, where it was run."""
    found = loaded(*made_up())
    shown = table(found, "total_variation")
    assert len(shown) == 4
    assert shown.loc[("tinylstm", "swiglu"), "total variation"] == summary.MISSING
    assert shown.loc[("tinylstm", "relu"), "n"] == "2"
    floors = ["same seed again", "one bit of one weight changed"]
    assert shown.loc[("charlm", "relu"), floors].tolist() == ["0", "1.0e-06"]
    assert shown.loc[("charlm", "swiglu"), floors].tolist() == ["", ""]
    assert not {*floors} & {*table(found)}


def apart(*values):
    """Three trials of relu whose pairs lie so far apart."""
    pd = np.zeros((3, 3))
    pd[np.triu_indices(3, 1)] = values
    return loaded(grids.record(pd=pd))


def test_no_interval_below_zero_where_no_difference_can_lie():
    """The jackknife's limit may lie below 0; what is shown lies above."""
    (low,) = apart(0.01, 0.02, 0.3).estimates.query("metric == 'total_variation'")["low"]
    assert 0 < low < 0.01


def test_small_numbers():
    """Powers of ten below 0.0001 only; 0 is exact; a share above a hundred is no power of ten."""
    values = (0.0, 150.4, 1940.0, 99.4, 12.0, 0.0076, 0.02, 1e-4, 9.9e-5, -3e-8)
    told = ["0", "150", "1,940", "99", "12", "0.0076", "0.020", "0.00010", "9.9e-05", "-3.0e-08"]
    assert [small(value) for value in values] == told
