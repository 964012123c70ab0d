"""Equal loss: known answers, outcomes of a family, and a simulation with known truth. ``records/test_estimates`` has
the jackknife over the whole procedure, of committed records, in NumPy."""

import math

import numpy as np
import pytest

from actlab.errors import BadInput
from actlab.statistics.equal_loss import Curves, equal_loss, read_at


def arm(losses, values, trials=3):
    """Trials without any scatter: every trial has these losses, every pair these values, one an evaluation."""
    pairs = np.array(values)[:, None, None] * np.ones((trials, trials))
    return Curves(np.array(losses)[:, None] * np.ones(trials), pairs)


SLOW_AND_FAST = {"slow": arm([3.0, 2.6, 2.2], [0.1, 0.2, 0.3]), "fast": arm([3.0, 2.4, 2.0], [0.1, 0.3, 0.5])}


ALL = np.arange(3)


def drawn(generator, speed, shift):
    """Two arms whose metric is one U-shaped function of the loss (as in charlm), ``shift`` apart; the other is
    faster."""
    times, shared = np.linspace(1, 10, 8), generator.normal(0, [[0.02], [0.004]], (2, 5))
    found = {}
    i, j = np.triu_indices(5, 1)
    for name, rate, apart in (("relu", 1.0, 0.0), ("other", speed, shift)):
        own = shared + generator.normal(0, [[0.02], [0.004]], (2, 5))
        losses = 1.8 + 1.4 * np.exp(-rate * times / 5)[:, None] + own[0] + generator.normal(0, 0.005, (8, 5))
        pairs = np.zeros((8, 5, 5))
        noise = generator.normal(0, 0.002, (8, len(i)))
        values = 0.08 + 0.08 * ((losses[:, i] + losses[:, j]) / 2 - 2.5) ** 2 + apart + own[1, i] + own[1, j] + noise
        pairs[:, i, j] = pairs[:, j, i] = values
        found[name] = Curves(losses, pairs)
    return found


def test_arms_are_read_where_the_slowest_one_ends():
    """At 2.2, half-way from fast's 2.4 to its 2.0, where its metric is half-way too; a quarter of the way up to 3.0 at
    2.4. Where an arm first comes down to the level, and not at all where it begins below."""
    assert read_at(SLOW_AND_FAST, ALL) == (pytest.approx([0.3, 0.4]), pytest.approx(2.2))
    assert read_at(SLOW_AND_FAST, ALL, 0.25) == (pytest.approx([0.25, 0.3]), pytest.approx(2.4))
    bumpy, low = arm([3.0, 2.0, 2.5, 1.0], [0.1, 0.3, 0, 0]), arm([2.4, 2.0], [0.1, 0.3])
    found, _ = read_at({"slow": arm([3.0, 2.5], [0.1, 0.2]), "bumpy": bumpy, "low": low}, ALL)
    assert found == pytest.approx([0.2, 0.2, math.nan], nan_ok=True)


def test_a_seed_counts_where_every_arm_has_it():
    arms = drawn(np.random.default_rng(1), 1.2, 0.0)
    lost = {name: Curves(c.losses.copy(), c.pairs.copy()) for name, c in arms.items()}
    lost["other"].losses[4:, 2] = np.nan
    keep = [0, 1, 3, 4]
    without = {name: Curves(c.losses[:, keep], c.pairs[:, keep][:, :, keep]) for name, c in arms.items()}
    assert equal_loss(lost, "relu") == equal_loss(without, "relu")


def test_what_cannot_be_compared_is_refused():
    good = arm([3.0, 2.0], [0.1, 0.2])
    for other in (arm([3.0, 2.0], [0.1, 0.2], 4), arm([3.0], [0.1])):
        with pytest.raises(BadInput, match="same seeds with at least two evaluations"):
            equal_loss({"relu": good, "gelu": other}, "relu")


def test_equal_curves_at_different_speeds_are_told_apart_no_more_often_than_said():
    """Known truth: false alarms are 5% at most within 3 standard errors; a true difference lies in its interval in 95%
    of the draws."""
    repeats, generator = 300, np.random.default_rng(4)
    limit = 3 * math.sqrt(0.05 * 0.95 / repeats)
    same = [equal_loss(drawn(generator, 1.4, 0.0), "relu").differences["other"] for _ in range(repeats)]
    other = [equal_loss(drawn(generator, 1.4, 0.02), "relu").differences["other"] for _ in range(repeats)]
    assert np.mean([e.p_value() < 0.05 for e in same]) < 0.05 + limit
    assert np.mean([e.low <= 0.02 <= e.high for e in other]) > 0.95 - limit
    assert np.mean([e.value for e in same]) == pytest.approx(0, abs=4 * 0.005 / math.sqrt(repeats))
    assert np.mean([e.p_value() < 0.05 for e in other]) > 0.6
