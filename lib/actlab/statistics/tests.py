"""Tests of differences between arms, with normal theory: ANOVA, Tukey, Welch, and Holm's correction.  Exact ones:
``permutation.py``.

Arms are a mapping, name -> (n,) one value per trial; NaN marks a missing trial and is left out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from actlab.errors import BadInput
from actlab.statistics.estimate import Array, Estimate, check_level, finite, t_interval, trials

Arms = Mapping[str, ArrayLike]


@dataclass(frozen=True)
class Outcome:
    """A test: its statistic, degrees of freedom where it has them, p-value, and ``n`` values used; NaN where the test
    cannot be made.

    ``floor`` is the smallest p-value that the test could have given: a floor above alpha means that no data could have
    been significant.
    """

    statistic: float
    p_value: float
    n: int
    method: str
    degrees: tuple[float, ...] = ()
    floor: float = 0.0

    def __str__(self) -> str:
        degrees = f"({', '.join(f'{value:g}' for value in self.degrees)})" if self.degrees else ""
        floor = f" (floor {self.floor:.4f})" if self.floor else ""
        return f"{self.method}: statistic{degrees} = {self.statistic:.3f}, p = {self.p_value:.4f}{floor}, n = {self.n}"


@dataclass(frozen=True)
class Comparison:
    """Two arms: mean of ``first`` minus mean of ``second`` with its interval, the p-value, and the one adjusted for all
    pairs of arms."""

    first: str
    second: str
    difference: Estimate
    p_value: float
    adjusted: float


def present(arms: Arms, least: int = 1) -> dict[str, Array]:
    """The values that are there of each arm that has at least ``least``."""
    if len(arms) < 2:
        raise BadInput(f"expected at least two arms, got {', '.join(arms) or 'none'}")
    found = {name: trials(values) for name, values in arms.items()}
    return {name: values for name, values in found.items() if len(values) >= least}


def f_test(between: float, within: float, degrees: tuple[int, int], n: int, method: str) -> Outcome:
    """F of two sums of squares; NaN without degrees of freedom, infinite where the values within an arm agree
    exactly."""
    if min(degrees) < 1 or (between <= 0 and within <= 0):
        return Outcome(math.nan, math.nan, n, method, degrees)
    statistic = (between / degrees[0]) / (within / degrees[1]) if within > 0 else math.inf
    return Outcome(statistic, float(special.fdtrc(*degrees, statistic)), n, method, degrees)


def shifted(groups: list[Array]) -> list[Array]:
    """``groups`` minus the first value of all: equal values become exact zeros, and close ones keep their digits."""
    return [group - groups[0][0] for group in groups]


def one_way_anova(arms: Arms) -> Outcome:
    """Whether the arms' means differ: F = MS between / MS within (Fisher 1925); normal values of one variance,
    independent trials.

    Raises:
        BadInput: fewer than two arms, or an infinite value.
    """
    groups = shifted(list(present(arms).values()))
    n = sum(map(len, groups))
    mean = sum(float(group.sum()) for group in groups) / n if n else math.nan
    between = sum(len(group) * float(group.mean() - mean) ** 2 for group in groups)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups)
    return f_test(between, within, (len(groups) - 1, n - len(groups)), n, "one-way ANOVA")


def complete_blocks(table: ArrayLike) -> Array:
    """The rows without NaN of a (seeds, arms) table: a seed counts only where every arm has it."""
    array = np.asarray(table, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] < 2:
        raise BadInput(f"expected a table of shape (seeds, arms) with at least two arms, got shape {array.shape}")
    return finite(array)[~np.isnan(array).any(axis=1)]


def tukey(arms: Arms, level: float = 0.95) -> list[Comparison]:
    """All pairs of arms, p-values and intervals adjusted together: Tukey's honestly significant difference
    (Tukey-Kramer where sizes differ).

    An arm with fewer than two trials is left out.  ``Comparison.p_value`` equals ``adjusted``: the method knows no
    other.

    Raises:
        BadInput: fewer than two arms, an infinite value, or a level outside (0, 1).
    """
    groups = present(arms, least=2)
    if len(groups) < 2:
        return []
    result = stats.tukey_hsd(*groups.values())
    limits = result.confidence_interval(check_level(level))

    def compare(i: int, j: int, first: str, second: str) -> Comparison:
        n = len(groups[first]) + len(groups[second])
        difference = Estimate(
            float(result.statistic[i, j]), float(limits.low[i, j]), float(limits.high[i, j]), n, level, "Tukey HSD"
        )
        return Comparison(first, second, difference, float(result.pvalue[i, j]), float(result.pvalue[i, j]))

    return [compare(i, j, first, second) for (i, first), (j, second) in combinations(enumerate(groups), 2)]


def welch(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> tuple[Estimate, float]:
    """Mean of ``first`` minus mean of ``second`` with its interval, and the two-sided p-value; variances may differ
    (Welch 1947).

    For arms that do not share seeds; where they do, use ``paired_difference``.  ``n`` counts the trials of both.
    """
    groups = (trials(first), trials(second))
    n, method = sum(map(len, groups)), "Welch t interval"
    value = float(groups[0].mean() - groups[1].mean()) if all(map(len, groups)) else math.nan
    if min(map(len, groups)) < 2:
        return t_interval(value, math.nan, n, 0, level, method), math.nan
    variances = np.array([float((group - group[0]).var(ddof=1)) / len(group) for group in groups])
    error = math.sqrt(variances.sum())
    if error == 0:
        return t_interval(value, 0.0, n, n - 2, level, method), math.nan if value == 0 else 0.0
    degrees = error**4 / float(
        sum(variance**2 / (len(group) - 1) for variance, group in zip(variances, groups, strict=True))
    )
    return t_interval(value, error, n, degrees, level, method), float(2 * special.stdtr(degrees, -abs(value) / error))


def holm(p_values: ArrayLike) -> Array:
    """Adjusted p-values, (k,) in the order given: running maximum of min(1, (k - i + 1) p_(i)) (Holm 1979).

    Compare with alpha: the chance of any false rejection stays below it, however the tests depend on one another.
    NaN (a test that could not be made) stays NaN and does not count.

    Raises:
        BadInput: not one-dimensional, or a value outside [0, 1].
    """
    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or (values < 0).any() or (values > 1).any():
        raise BadInput(f"expected p-values in [0, 1], shape (k,), got {values}")
    adjusted = np.full(values.shape, np.nan)
    order = np.argsort(values)[: np.count_nonzero(~np.isnan(values))]
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, (len(order) - np.arange(len(order))) * values[order]))
    return adjusted
