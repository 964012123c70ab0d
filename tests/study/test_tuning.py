"""The rule that chooses a learning rate, against curves whose minimum is known."""

import math
from dataclasses import replace

import pytest

from actlab.statistics.tuning import Rule, step

RULE = Rule(rates=[0.001, 0.002, 0.004], seeds=[900, 901])


def tune(loss, rule=RULE):
    """The chosen rate and all trials that the rule asked for, when each has the loss ``loss(rate, seed)``."""
    losses = {}
    while True:
        wanted, best = step(losses, rule)
        if not wanted:
            return best, losses
        assert not set(wanted) & set(losses)
        losses |= {trial: loss(*trial) for trial in wanted}
        assert len(losses) < 50


@pytest.mark.parametrize(("minimum", "tries"), [(0.002, 3), (0.0005, 5), (0.00025, 6), (0.008, 5), (0.016, 6)])
def test_extends_the_grid_until_the_best_rate_is_inside(minimum, tries):
    """No further than that; two rates get the second seed."""
    best, tried = tune(lambda rate, seed: abs(math.log2(rate / minimum)))
    rates = sorted({rate for rate, _ in tried})
    assert best == pytest.approx(minimum)
    assert rates[0] < best < rates[-1]
    assert (len(rates), len(tried)) == (tries, tries + 2)


def test_the_second_seed_can_change_the_choice_and_extend_the_grid():
    """By seed 900 0.002 is best; over both seeds 0.004, at the edge, is: so 0.008 is tried."""
    first = {0.001: 2.3, 0.002: 2.0, 0.004: 2.1, 0.008: 2.2}
    best, tried = tune(lambda rate, seed: first[rate] if seed == 900 else {0.002: 2.4, 0.004: 2.0}[rate])
    assert best == 0.004
    assert (0.008, 900) in tried


def test_a_diverged_rate_is_never_chosen_and_the_limits_hold():
    best, _ = tune(lambda rate, seed: math.inf if rate > 0.001 else 2.0)
    assert best <= 0.001
    assert tune(lambda rate, seed: math.inf)[0] is None
    narrow = replace(RULE, most=0.004)
    assert tune(lambda rate, seed: -rate, narrow)[0] == 0.004
