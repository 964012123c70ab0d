"""Power and minimum detectable effects of t tests with n trials, for normal values of one variance, before any run.

All are F tests: with lambda the noncentrality, power = P(F'(1, df, lambda) > F quantile), lambda = delta^2.
For k comparisons under Holm, the first step is at alpha / k: pass that as alpha.  "With power" means 80%.
"""

from __future__ import annotations

import math

from scipy import special, stats

from actlab.errors import BadInput

ALPHA, POWER = 0.05, 0.8


def power_two_sample(effect: float, n: int) -> float:
    """Power at 5% of the two-sided t test of two arms with n independent trials each, a probability.

    Args:
        effect: true difference of the means, in standard deviations within an arm (Cohen's d); its sign does not
            matter.
        n: trials per arm, at least 2.
    """
    return float(stats.ncf.sf(quantile(2 * n - 2, ALPHA), 1, 2 * n - 2, effect**2 * n / 2))


def detectable_paired(n: int, alpha: float = ALPHA) -> float:
    """Smallest mean difference that n shared seeds show with power, in standard deviations of the differences (dz)."""
    return math.sqrt(special.ncfdtrinc(1, n - 1, 1 - POWER, quantile(n - 1, alpha)) / n)


def quantile(degrees: int, alpha: float) -> float:
    """Of the central F with 1 and ``degrees`` degrees of freedom, above which lies ``alpha``."""
    if degrees < 1 or not 0 < alpha < 1:
        raise BadInput(f"expected at least two trials and alpha between 0 and 1 (0.05, say), got alpha = {alpha}")
    return float(stats.f.isf(alpha, 1, degrees))
