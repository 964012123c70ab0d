"""How much of the spread of results is due to what: shares of variance, in [0, 1], with intervals.

Arms of independent trials here; a balanced design of architectures x activations x seeds in ``crossed.py``.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import optimize, special

from actlab.statistics.estimate import Estimate, check_level
from actlab.statistics.tests import Arms, one_way_anova, present


def omega_squared(arms: Arms, level: float = 0.95) -> Estimate:
    """Share of variance that lies between these very arms: df1 (F - 1) / (df1 (F - 1) + N) (Hays 1963), below 0 where F < 1.

    The interval inverts the noncentral F: limits of lambda / (lambda + N) (Steiger 2004), exact for normal values and equal arms.

    Args:
        arms: name -> (n,) one value per trial, NaN where missing.
        level: coverage claimed.

    Returns:
        An estimate in [-1, 1]; ``n`` counts trials of all arms; NaN where ANOVA has no F.

    Raises:
        BadInput: fewer than two arms, an infinite value, or a level outside (0, 1).
    """
    test = one_way_anova(arms)
    tail, method = (1 - check_level(level)) / 2, "noncentral F interval of omega squared"
    if not math.isfinite(test.statistic):
        return Estimate(1.0 if test.statistic == math.inf else math.nan, math.nan, math.nan, test.n, level, method)
    excess = test.degrees[0] * (test.statistic - 1)
    low, high = (noncentrality(test.statistic, test.degrees[0], test.degrees[1], chance) for chance in (1 - tail, tail))
    return Estimate(excess / (excess + test.n), low / (low + test.n), high / (high + test.n), test.n, level, method)


def noncentrality(statistic: float, df1: float, df2: float, chance: float) -> float:
    """The lambda at which F' stays below ``statistic`` with this chance; 0 where none does."""

    def above(value: float) -> float:
        return float(special.ncfdtr(df1, df2, value, statistic)) - chance

    if above(0.0) <= 0:
        return 0.0
    upper = 1.0
    while above(upper) > 0:
        upper *= 2
    return float(optimize.brentq(above, 0.0, upper))


def variance_share(arms: Arms, level: float = 0.95) -> Estimate:
    """sigma^2 between arms / (sigma^2 between + sigma^2 of trials), the arms taken as a sample of all arms there might be.

    What a coefficient of variation over arms tries to say, without the noise of the trials: an intraclass correlation, ICC(1, 1) of Shrout and
    Fleiss 1979.  Value (MSB - MSW) / (MSB + (n - 1) MSW), exact F interval; with unequal arms n is the usual mean size and the interval approximate.

    Args:
        arms: name -> (n,) one value per trial, NaN where missing.
        level: coverage claimed, exact for normal values and equal arms.

    Returns:
        An estimate at most 1 (below 0 where arms differ less than their trials); ``n`` counts trials of all arms.

    Raises:
        BadInput: fewer than two arms, an infinite value, or a level outside (0, 1).
    """
    test = one_way_anova(arms)
    sizes = np.array([len(values) for values in present(arms).values()], dtype=np.float64)
    tail, method = (1 - check_level(level)) / 2, "F interval of the share of variance between arms"
    if not math.isfinite(test.statistic):
        return Estimate(1.0 if test.statistic == math.inf else math.nan, math.nan, math.nan, test.n, level, method)
    size = (test.n - float((sizes**2).sum()) / test.n) / (len(sizes) - 1)

    def share(ratio: float) -> float:
        return (ratio - 1) / (ratio + size - 1)

    low, high = (share(test.statistic / float(special.fdtri(*test.degrees, chance))) for chance in (1 - tail, tail))
    return Estimate(share(test.statistic), low, high, test.n, level, method)
