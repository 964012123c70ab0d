"""Power and minimum detectable effects of t tests with n trials, for normal values of one variance, before any run.

All are F tests: with lambda the noncentrality, power = P(F'(1, df, lambda) > F quantile), lambda = delta^2.
For k comparisons under Holm, the first step is at alpha / k: pass that as alpha.  "With power" means 80%.
"""

from __future__ import annotations

import math

from scipy import special, stats

from actlab.statistics.significance import ALPHA

POWER = 0.8


def power_two_sample(effect: float, n: int) -> float:
    """Power at 5% of the two-sided t test of two arms with n independent trials each, a probability.

    Args:
        effect: true difference of the means, in standard deviations within an arm (Cohen's d); its sign does not
            matter.
        n: trials per arm, at least 2.
    """
    degrees = 2 * n - 2
    return float(stats.ncf.sf(stats.f.isf(ALPHA, 1, degrees), 1, degrees, effect**2 * n / 2))


def detectable_paired(n: int, alpha: float = ALPHA) -> float:
    """Smallest mean difference that n shared seeds, at least 2, show with power, in standard deviations of the
    differences (dz)."""
    return math.sqrt(special.ncfdtrinc(1, n - 1, 1 - POWER, stats.f.isf(alpha, 1, n - 1)) / n)
