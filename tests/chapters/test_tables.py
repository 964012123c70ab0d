"""Tables show estimates, intervals and n, and say what is missing."""

from __future__ import annotations

import numpy as np
from tests.support import grids

from actlab.chapters import tables
from actlab.records.repro import METRICS, read
from actlab.statistics.estimate import Estimate
from actlab.wording import with_interval

NAN = float("nan")


def test_intervals_in_text() -> None:
    """Value and limits; the value alone without limits; words without a value."""
    assert with_interval(Estimate(0.12345, 0.1, 0.2, 5, 0.95, "m")) == "0.1235 [0.1000, 0.2000]"
    assert with_interval(Estimate(0.12345, NAN, NAN, 2, 0.95, "m"), 2) == "0.12"
    assert with_interval(Estimate(NAN, NAN, NAN, 1, 0.95, "m")) == "no pair"
    assert with_interval(Estimate(NAN, NAN, NAN, 4, 0.95, "m")) == "NaN"


def test_every_arm_has_a_row_and_a_missing_one_says_so() -> None:
    """Six cells of the grid, six rows; the arm without a record reads `not run` throughout."""
    frame = tables.every_metric(grids.grid())
    assert len(frame) == 6
    assert set(frame.loc[("tinylstm", "swiglu")]) == {tables.MISSING}
    assert frame.loc[("tinylstm", "gelu"), "trials"] == "3 of 4 (45: diverged)"


def test_one_model_needs_no_model_column() -> None:
    """The index is the activation alone where there is one model."""
    assert list(tables.losses(grids.grid().only("charlm")).index) == ["relu", "gelu", "swiglu"]


def test_across_shows_n() -> None:
    """Every recorded cell of the grid carries n."""
    frame = tables.across(grids.grid(), "total_variation")
    assert frame.loc["charlm", "relu"].endswith("n = 4")
    assert frame.loc["tinylstm", "gelu"].endswith("n = 3")
    assert frame.loc["tinylstm", "swiglu"] == tables.MISSING


def test_stars_mark_what_is_significant() -> None:
    """A difference without noise is starred, an arm without a partner is missing."""
    results = read([grids.record(), grids.record(activation="gelu", losses=(2.5, 2.6, 2.7))])
    frame = tables.against(results, "val_loss")
    assert frame.loc["charlm", "gelu"].endswith("*")
    assert tables.against(grids.grid(), "val_loss").loc["tinylstm", "swiglu"] == tables.MISSING
    assert METRICS["val_loss"].label in str(frame.index.name)


def test_floor_prints_exact_zero_and_powers_of_ten() -> None:
    """The repeat is `0`, the nudge a power of ten; arms without a floor share one row of `not run`."""
    frame = tables.floors(grids.grid())
    rows = {key: row.iloc[0] for key, row in frame.iterrows()}
    assert rows["charlm, relu", "same seed again"] == "0"
    assert rows["charlm, relu", "one weight moved by one ULP"] == "1.0e-06"
    assert rows["5 other arms", "either"] == tables.MISSING
    assert len(rows) == 3
    assert "every arm" in tables.floors(read([grids.record()])).index


def test_missing_and_provenance_list_what_there_is() -> None:
    """One line for a missing arm, one for a diverged trial; records of one origin share a row."""
    results = grids.grid()
    assert list(tables.missing(results)["what"]) == ["no record", "trial 45: diverged"]
    assert tables.missing(read([grids.record()])).data == "- Nothing is missing."
    assert len(tables.baselines(results)) == 2
    assert tables.baselines(read([grids.record()])).empty


def test_noise_floors_that_were_planned_are_missed() -> None:
    """One row for each model, only where floors are planned."""
    results = grids.grid()
    frame = tables.missing(results, noise_floor=True)
    assert frame[frame["what"] == "noise floor not run"]["activation"].to_dict() == {
        "charlm": "2 of 3 activations",
        "tinylstm": "2 of 2 activations",
    }
    assert tables.missing(read([grids.record(), grids.floor()]), noise_floor=True).data == "- Nothing is missing."


def test_provenance_has_one_row_for_each_origin() -> None:
    """Records of one origin share a row with the span of their days; the commit is the index."""
    records = [grids.record(activation=a) for a in ("relu", "gelu", "swish")]
    records[1]["provenance"] |= {"date": "2026-01-03T00:00:00+00:00"}
    records[2]["provenance"] |= {"git_commit": "f" * 40, "git_dirty": True}
    frame = tables.provenance(read(records))
    assert frame[["records", "days"]].to_numpy().tolist() == [[2, "2026-01-01 to 2026-01-03"], [1, "2026-01-01"]]
    assert frame.index.tolist() == ["0123456789", "ffffffffff (changed)"]
    assert tables.provenance(read([])).empty


def test_no_interval_below_zero_where_no_difference_can_lie() -> None:
    """The jackknife's limit may lie below 0; what is shown lies above (log scale), or has no interval where too few
    trials differ."""
    record = grids.record()
    for pair, value in zip(record["reproducibility_metrics"], (0.01, 0.02, 0.3), strict=True):
        pair["total_variation"] = value
    arm = read([record]).arms["charlm", "relu"]
    assert arm.estimate("total_variation").low < 0
    assert (
        0 < arm.shown("total_variation").low < arm.estimate("total_variation").value < arm.shown("total_variation").high
    )
    for pair, value in zip(record["reproducibility_metrics"], (0.0, 0.0, 0.3), strict=True):
        pair["total_variation"] = value
    arm = read([record]).arms["charlm", "relu"]
    assert np.isnan(arm.shown("total_variation").low)
    assert "too few trials differ" in tables.differences(read([record])).iloc[0]["total variation (0 to 1)"]
    assert arm.shown("val_loss") == arm.estimate("val_loss")
