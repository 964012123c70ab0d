"""What counts as one run, one pair and one group; rows that would be counted wrongly are refused."""

import math
from itertools import combinations

import pandas as pd
import pytest

import actlab
from actlab.errors import BadInput

NONE = float("nan")
RUNS = pd.DataFrame(
    [
        {"model": "charlm", "activation": name, "seed": seed, "val_loss": seed / 10 + rise * seed}
        for name, rise in (("relu", 0.0), ("gelu", 0.1), ("swish", 0.2))
        for seed in (1, 2, 4)
    ]
)
CURVES = pd.DataFrame(
    [
        {"model": "charlm", "activation": name, "trial": str(seed), "iteration": step, "val_loss": 3 - step / 10 - s}
        for name in ("relu", "gelu")
        for seed, s in ((1, 0.1), (2, 0.2), (3, 0.4))
        for step in (0, 5, 10)
    ]
)
ALONG = pd.DataFrame(
    [
        {"model": "charlm", "activation": name, "first": a, "second": b, "iteration": step, "total_variation": step + i}
        for name in ("relu", "gelu")
        for i, (a, b) in enumerate(combinations("123", 2))
        for step in (0, 5, 10)
    ]
)
WRONG = {
    "several rows of a run": (lambda: actlab.means(pd.concat([RUNS, RUNS]), "val_loss"), "expected one row a run"),
    "pairs twice": (lambda: actlab.equal_loss(CURVES, pd.concat([ALONG, ALONG])), "expected one row a run or pair"),
    "two studies": (
        lambda: actlab.means(
            pd.concat([RUNS.assign(study="a"), RUNS.assign(study="b", seed=RUNS["seed"] + 9)]), "val_loss"
        ),
        "add a column to by, or choose rows; columns that differ: study",
    ),
    "a run with itself among pairs": (
        lambda: actlab.means(ALONG[:9:3].assign(first=["1", "3", "2"]), "total_variation"),
        "got a run with itself among them",
    ),
    "pairs of runs beside changed ones": (
        lambda: actlab.means(ALONG[:9:3].assign(seed=[None, None, 1]), "total_variation"),
        "a seed and itself changed, got both",
    ),
    "no shared evaluation": (
        lambda: actlab.at_equal_loss(CURVES, ALONG.assign(iteration=ALONG["iteration"] + 7)),
        "share no evaluation",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_refused(what):
    """Each would give a silently wrong n or number."""
    make, message = WRONG[what]
    with pytest.raises(BadInput, match=message):
        make()


def test_an_empty_group_is_one_group():
    """A group column that is empty everywhere (NaN) changes no number."""
    named, empty = (actlab.equal_loss(*(t.assign(model=m) for t in (CURVES, ALONG))) for m in ("charlm", NONE))
    assert empty["model"].isna().tolist() == [True]
    pd.testing.assert_frame_equal(named.drop(columns="model"), empty.drop(columns="model"))


def test_no_line_goes_through_equal_losses_or_one_that_is_missing():
    """Then nothing is known at a lower loss."""
    for losses in ([2.0], [2.0, 2.0, 2.0], [3.0, NONE, 2.0]):
        value, extrapolated = actlab.at_loss(losses, [1.0] * len(losses), 0.5)
        assert (math.isnan(value), extrapolated) == (True, True)


def test_a_pair_is_one_whichever_run_comes_first():
    """At equal loss as in ``contrasts``: pairs that are turned round at some steps change nothing,
    both ways are two."""
    turned = ALONG.rename(columns={"first": "second", "second": "first"})
    half = pd.concat([ALONG[::2], turned[1::2]]).astype({"first": "category", "second": "category"})
    pd.testing.assert_frame_equal(actlab.equal_loss(CURVES, half), actlab.equal_loss(CURVES, ALONG))
    with pytest.raises(BadInput, match="expected one row a run or pair"):
        actlab.equal_loss(CURVES, pd.concat([ALONG, turned]))
