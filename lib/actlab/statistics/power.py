"""What n trials can show, before they are run: power and minimum detectable effect of t tests, for normal values of one
variance.

Both are F tests: with lambda the noncentrality, power = P(F'(df1, df2, lambda) > F quantile); a two-sided t test has
df1 = 1, lambda = delta^2. For k comparisons under Holm, the first step is at alpha / k: pass that as alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy import optimize, stats

from actlab.errors import BadInput


def power_two_sample(effect: float, n: int, alpha: float = 0.05) -> float:
    """Power of the two-sided t test of two arms with n independent trials each.

    Args:
        effect: true difference of the means, in standard deviations within an arm (Cohen's d); its sign does not
            matter.
        n: trials per arm, at least 2.
        alpha: chance of a false alarm; divide by the number of comparisons for Bonferroni.

    Returns:
        A probability in [alpha, 1].
    """
    return f_power(effect**2 * n / 2, 1, 2 * at_least(n, 2, "trials per arm") - 2, alpha)


def power_paired(effect: float, n: int, alpha: float = 0.05) -> float:
    """Power of the two-sided t test of two arms that share n seeds; ``effect`` in standard deviations of the
    *differences* (Cohen's dz)."""
    return f_power(effect**2 * n, 1, at_least(n, 2, "shared seeds") - 1, alpha)


def detectable_two_sample(n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """Smallest difference of two means that n trials per arm show with this power, in standard deviations within an arm
    (d).

    Multiply by that standard deviation for the unit of the values.
    """
    return detectable(lambda effect: power_two_sample(effect, n, alpha), alpha, power)


def detectable_paired(n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """Smallest mean difference that n shared seeds show with this power, in standard deviations of the differences
    (dz)."""
    return detectable(lambda effect: power_paired(effect, n, alpha), alpha, power)


def f_power(noncentrality: float, df1: int, df2: int, alpha: float) -> float:
    """P(noncentral F exceeds the quantile of the central one)."""
    if not 0 < alpha < 1:
        raise BadInput(f"expected alpha between 0 and 1 (0.05, say), got {alpha}")
    if noncentrality == 0:
        return alpha
    return float(stats.ncf.sf(stats.f.isf(alpha, df1, df2), df1, df2, noncentrality))


def detectable(power_of: Callable[[float], float], alpha: float, power: float) -> float:
    """The effect at which ``power_of`` reaches ``power``."""
    if not alpha < power < 1:
        raise BadInput(f"expected a power between alpha = {alpha} and 1 (0.8, say), got {power}")
    upper = 1.0
    while power_of(upper) < power:
        upper *= 2
    return float(optimize.brentq(lambda effect: power_of(effect) - power, 0.0, upper, xtol=1e-10))


def at_least(count: int, least: int, what: str) -> int:
    """``count``, or an error where it is too small."""
    if count < least or math.isnan(count):
        raise BadInput(f"expected at least {least} {what}, got {count}")
    return count
