"""Do the intervals keep their word? Simulated: those that claim 95% must, the published one must be seen to fail."""

import numpy as np
import pytest

from actlab.statistics.best_of_k import bootstrap_maximum, interval_coverage
from actlab.statistics.means import mean_interval, pair_mean

TRUE_MEAN = 2 / np.sqrt(np.pi)
"""E|x - y| of two standard normal values."""
EXPECTED_MAXIMUM = {2: 0.5641896, 4: 1.0293754, 8: 1.4236003}
"""E max of k standard normal values (Harter 1961)."""


def pairs(trials, inputs=20):
    """Draw PD-like values: h_ij = mean over inputs of |x_i - x_j|, additive parts of the trials and interactions
    both."""

    def draw(generator):
        points = generator.normal(size=(trials, inputs))
        return np.abs(points[:, None] - points[None]).mean(axis=-1)

    return draw


def measured(draw, method, truth, repeats=1500):
    return interval_coverage(draw, method, truth, np.random.default_rng(0), repeats).value


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
    """Claim: at least about 95%; conservative at small M."""
    assert lowest <= measured(pairs(trials), pair_mean, TRUE_MEAN) <= highest


@pytest.mark.parametrize("k", [2, 8])
def test_bootstrap_of_the_maximum_fails(k):
    """The published interval covers 40 to 48%."""
    generator = np.random.default_rng(0)
    found = measured(
        lambda g: g.normal(size=k),
        lambda v: bootstrap_maximum(v, generator, resamples=500),
        EXPECTED_MAXIMUM[k],
        1000,
    )
    assert 0.36 < found < 0.52
