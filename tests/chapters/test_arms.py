"""Tables and figures of a grid show estimates, intervals and n, and say what is missing."""

import grids
import numpy as np

from actlab import report
from actlab.chapters import arms
from actlab.chapters.template import folded
from actlab.records.labels import METRICS
from actlab.records.repro import read
from actlab.report import MISSING


def table(grid, metric="val_loss"):
    return report.table(grid, METRICS[metric], arms.cells(grid, metric))


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


def test_stars_and_filled_marks_are_what_is_significant():
    """A difference without noise is starred and filled, one with noise is neither, an arm without a record is
    missing."""
    grid = read(grids.noisy())
    row = table(grid).loc["charlm", "minus relu"]
    assert (row["gelu"].endswith("*"), row["swish"].endswith("*")) == (True, False)
    (axes,) = arms.figure_differences(grid, "val_loss").axes
    faces = [container.lines[0].get_markerfacecolor() for container in axes.containers]
    assert [face == "white" for face in faces] == [False, True]


def test_an_exact_zero_has_no_place_on_a_logarithmic_axis():
    (axes,) = report.figure_floors(read([grids.record(), grids.floor(nudge=0.0)])).axes
    assert len(axes.containers) == 1


def test_provenance_has_one_row_for_each_origin():
    """Records of one origin share a row with the span of their days; the commit is the index."""
    records = [grids.record(activation=a) for a in ("relu", "gelu", "swish")]
    records[1]["provenance"] |= {"date": "2026-01-03T00:00:00+00:00"}
    records[2]["provenance"] |= {"git_commit": "f" * 40, "git_dirty": True}
    frame = arms.provenance(read(records))
    assert frame[["records", "days"]].to_numpy().tolist() == [[2, "2026-01-01 to 2026-01-03"], [1, "2026-01-01"]]
    assert frame.index.tolist() == ["0123456789", "ffffffffff (changed)"]
    assert arms.provenance(read([])).empty


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


def test_tables_are_folded_behind_their_titles():
    """Text of a cell is escaped; a study without records says so."""
    html = folded({"a < b": table(read([]))}).data
    assert html.startswith("<details><summary>a &lt; b</summary><table")
    assert "no record yet" in html
