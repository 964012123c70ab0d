"""The expected best of k draws: exact enumeration; the published bootstrap reproduced; and whether intervals keep their
word. Simulated: those that claim 95% must, the published one must be seen to fail."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actlab.errors import BadInput
from actlab.statistics.best_of_k import bootstrap_maximum, interval_coverage, without_replacement
from actlab.statistics.means import mean_interval, pair_mean

SCORES = st.lists(st.floats(-100, 100), min_size=1, max_size=7)


def best(values, k):
    return float(np.sort(values) @ without_replacement(len(values), k))


@given(SCORES, st.integers(1, 7))
def test_expected_best_is_the_mean_over_all_subsets(values, k):
    expected = float(np.mean([max(chosen) for chosen in combinations(values, k)])) if k <= len(values) else math.nan
    assert best(values, k) == pytest.approx(expected, nan_ok=True, abs=1e-9)


def test_many_draws_do_not_overflow():
    """C(5000, 2500) is beyond a double."""
    assert without_replacement(5000, 2500).sum() == pytest.approx(1.0)


def test_bad_input_says_what_was_given():
    with pytest.raises(BadInput, match="k >= 1, got 0"):
        without_replacement(2, 0)
    with pytest.raises(BadInput, match="got inf"):
        bootstrap_maximum([1.0, math.inf], np.random.default_rng(0))


def test_coverage_of_known_methods():
    """A t interval of normal values is exact; an interval that is never there never covers."""
    found, never = (
        interval_coverage(lambda g, n=n: g.normal(size=n), mean_interval, 0.0, np.random.default_rng(1), 2000)
        for n in (4, 1)
    )
    assert found.low < 0.95 < found.high
    assert never.value == 0.0


@pytest.mark.parametrize(("trials", "lowest", "highest"), [(3, 0.96, 0.995), (10, 0.935, 0.975)])
def test_jackknife_over_trials_covers_at_least_its_claim(trials, lowest, highest):
    """Of PD-like values, h_ij = mean over inputs of |x_i - x_j|: additive parts of the trials and interactions both.
    Claim: at least about 95%; conservative at small M."""

    def draw(generator):
        points = generator.normal(size=(trials, 20))
        return np.abs(points[:, None] - points[None]).mean(axis=-1)

    truth = 2 / np.sqrt(np.pi)  # E|x - y| of two standard normal values
    assert lowest <= interval_coverage(draw, pair_mean, truth, np.random.default_rng(0), 1500).value <= highest
