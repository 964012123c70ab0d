"""Tables and figures of a grid show estimates, intervals and n, and say what is missing."""

import numpy as np
from tests.support import grids

from actlab.chapters import arms
from actlab.chapters.template import MISSING, NO_RECORD, folded, standing_listed
from actlab.records.repro import read
from actlab.records.wording import with_interval
from actlab.statistics.estimate import Estimate

NAN = float("nan")


def test_intervals_in_text():
    """Value and limits; the value alone without limits; words without a value."""
    assert with_interval(Estimate(0.12345, 0.1, 0.2, 5, "m")) == "0.1235 [0.1000, 0.2000]"
    assert with_interval(Estimate(0.12345, NAN, NAN, 2, "m"), 2) == "0.12"
    assert with_interval(Estimate(NAN, NAN, NAN, 1, "m")) == "no pair"
    assert with_interval(Estimate(NAN, NAN, NAN, 4, "m")) == "NaN"


def test_every_arm_has_a_column_and_a_missing_one_says_so():
    """The arm without a record reads `not run` throughout; the selector has a line a model."""
    frame = arms.table_model(grids.grid(), "tinylstm", arms.differences(grids.grid()))
    assert set(frame["swiglu"]) == {MISSING}
    assert frame.loc["trials", "gelu"] == "3 of 4 (45: diverged)"
    selector = arms.models(grids.grid()).data
    assert selector.count('<details name="models"') == 2
    assert "charlm (1,000 parameters, n = 4): validation loss differs significantly in" in selector


def test_stars_and_filled_marks_are_what_is_significant():
    """A difference without noise is starred and filled, one with noise is neither, an arm without a record is
    missing."""
    records = [
        grids.record(),
        grids.record(activation="gelu", losses=(2.5, 2.6, 2.7)),
        grids.record(activation="swish", losses=(2.0, 2.3, 2.1)),
    ]
    grid = read(records)
    row = arms.table_model(grid, "charlm", arms.differences(grid)).loc["validation loss minus relu"]
    assert (row["gelu"].endswith("*"), row["swish"].endswith("*")) == (True, False)
    (axes,) = arms.figure_differences(read(records), "val_loss").axes
    faces = [container.lines[0].get_markerfacecolor() for container in axes.containers]
    assert [face == "white" for face in faces] == [False, True]


def test_training_and_trade_are_relative_to_relu():
    """Constant losses 0.5 above relu's are a line at 0.5; the trade-off stands at both differences."""
    grid = read([grids.record(), grids.record(activation="gelu", losses=(2.5, 2.6, 2.7), pd=0.3)])
    heights = arms.figure_training(grid).axes[0].lines[0].get_ydata()
    np.testing.assert_allclose(heights, 0.5)
    (mark,) = arms.figure_trade(grid).axes[0].containers
    np.testing.assert_allclose(mark.lines[0].get_xydata(), [[0.5, 0.2]])
    assert len(arms.figure_trade(None).axes) == 1


def test_floors_show_exact_zero_in_the_table_and_leave_it_out_of_the_figure():
    """The repeat is `0`, the perturbation a power of ten; on a logarithmic axis 0 has no place."""
    rows = {key: row.iloc[0] for key, row in arms.table_floors(grids.grid()).iterrows()}
    assert rows == {
        ("charlm, relu", "same seed again"): "0",
        ("charlm, relu", "one weight moved by one ULP"): "1.0e-06",
    }
    assert NO_RECORD in arms.table_floors(read([grids.record()])).to_numpy()
    (axes,) = arms.figure_floors(read([grids.record(), grids.floor(nudge=0.0)])).axes
    assert len(axes.containers) == 1


def test_missing_lists_what_there_is_not():
    """One line for a missing arm, one for a diverged trial; floors only where they are planned."""
    results = grids.grid()
    assert list(arms.table_missing(results)["what"]) == ["no record", "trial 45: diverged"]
    assert list(arms.table_missing(read([grids.record()]))["what"]) == ["nothing"]
    frame = arms.table_missing(results, noise_floor=True)
    assert frame[frame["what"] == "noise floor not run"]["activation"].to_dict() == {
        "charlm": "2 of 3 activations",
        "tinylstm": "2 of 2 activations",
    }


def test_provenance_has_one_row_for_each_origin():
    """Records of one origin share a row with the span of their days; the commit is the index."""
    records = [grids.record(activation=a) for a in ("relu", "gelu", "swish")]
    records[1]["provenance"] |= {"date": "2026-01-03T00:00:00+00:00"}
    records[2]["provenance"] |= {"git_commit": "f" * 40, "git_dirty": True}
    frame = arms.provenance(read(records))
    assert frame[["records", "days"]].to_numpy().tolist() == [[2, "2026-01-01 to 2026-01-03"], [1, "2026-01-01"]]
    assert frame.index.tolist() == ["0123456789", "ffffffffff (changed)"]
    assert arms.provenance(read([])).empty


def test_no_interval_below_zero_where_no_difference_can_lie():
    """The jackknife's limit may lie below 0; what is shown lies above (log scale), or has no interval where too few
    trials differ."""
    record = grids.record()
    for pair, value in zip(record["reproducibility_metrics"], (0.01, 0.02, 0.3), strict=True):
        pair["total_variation"] = value
    arm = read([record]).arms["charlm", "relu"]
    assert arm.estimate("total_variation").low < 0 < arm.shown("total_variation").low
    for pair, value in zip(record["reproducibility_metrics"], (0.0, 0.0, 0.3), strict=True):
        pair["total_variation"] = value
    arm = read([record]).arms["charlm", "relu"]
    assert np.isnan(arm.shown("total_variation").low)
    shown = arms.table_model(read([record]), "charlm", {}).loc["total variation (0 to 1)", "relu"]
    assert "too few trials differ" in shown
    assert arm.shown("val_loss") == arm.estimate("val_loss")


def test_tables_are_folded_behind_their_titles():
    """Text of a cell is escaped; a study without records says so."""
    html = folded({"a < b": arms.table_missing(read([grids.record()]))}).data
    assert html.startswith("<details><summary>a &lt; b</summary><table")
    assert arms.tables(grids.grid()).data.count("<details>") == 3
    assert standing_listed("nothing").data == "- No record yet."
