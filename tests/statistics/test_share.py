"""What one change does of what another does: the ratio of two means, against a computation by hand."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import actlab

BIT = {"1": 0.01, "2": 0.03, "3": 0.02}
"""Run -> its distance from itself after one bit."""
SEEDS = {("1", "2"): 0.1, ("1", "3"): 0.2, ("2", "3"): 0.4}


def tables(bit):
    part = [{"arm": "a", "seed": run, "first": run, "second": f"{run}-nudge", "tv": tv} for run, tv in bit.items()]
    whole = [{"arm": "a", "first": first, "second": second, "tv": tv} for (first, second), tv in SEEDS.items()]
    return pd.DataFrame(part), pd.DataFrame(whole)


def test_a_share_is_the_ratio_of_means_and_its_interval_the_jackknife_by_hand():
    """The slow reference: drop a run from both sides, divide, take the logarithm."""

    def ratio(kept):
        return np.mean([BIT[run] for run in kept]) / np.mean([SEEDS[pair] for pair in combinations(kept, 2)])

    found = actlab.share(*tables(BIT), "tv", "arm").iloc[0]
    logs = np.log([ratio([run for run in BIT if run != one]) for one in BIT])
    reach = stats.t.ppf(0.975, 2) * math.sqrt(2 / 3 * ((logs - logs.mean()) ** 2).sum())
    whole = ratio([*BIT])
    assert found[["n", "value", "reference"]].tolist() == pytest.approx([3, 0.02, 0.7 / 3])
    sides = [whole, whole * math.exp(-reach), whole * math.exp(reach)]
    assert found[["estimate", "low", "high"]].tolist() == pytest.approx(sides)


@pytest.mark.parametrize(("bit", "value"), [(dict.fromkeys(BIT, 0.0), 0), ({"1": 0.01, "2": 0.03}, 0.02)])
def test_no_interval_where_nothing_changed_or_a_run_is_missing(bit, value):
    found = actlab.share(*tables(bit), "tv", "arm").iloc[0]
    assert found[["value", "estimate"]].tolist() == pytest.approx([value, value / (0.7 / 3)])
    assert found[["low", "high"]].isna().all()


def test_no_share_of_what_changes_nothing():
    """A mean of 0 has no ratio, alone or without one run."""
    part, whole = tables(BIT)
    alike = whole.assign(tv=0.0)
    assert actlab.share(part, alike, "tv", "arm")[["estimate", "low", "high"]].isna().all(axis=None)
    one = alike.assign(tv=alike["tv"].mask(alike["first"] == "1", 0.1))
    assert actlab.share(part, one, "tv", "arm")[["low", "high"]].isna().all(axis=None)
