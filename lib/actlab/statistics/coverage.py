"""Whether an interval method keeps its word: draw, estimate, look whether the truth lies inside, many times."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics.estimate import Estimate

Sample = TypeVar("Sample")


def interval_coverage(
    draw: Callable[[np.random.Generator], Sample],
    method: Callable[[Sample], Estimate],
    truth: float,
    generator: np.random.Generator,
    repeats: int = 1000,
    level: float = 0.95,
) -> Estimate:
    """Share of simulated samples whose interval holds the truth, in [0, 1], with its exact binomial interval (Clopper &
    Pearson 1934).

    A sample without an interval counts as not covered: a method cannot gain by silence.

    Args:
        draw: one sample from a generator.
        method: sample -> estimate with the interval under test.
        truth: the number that the intervals claim to hold.
        generator: the only source of randomness.
        repeats: how many samples.
        level: of the binomial interval, not of the method.

    Raises:
        BadInput: no repeats.
    """
    if repeats < 1:
        raise BadInput(f"expected at least one repeat, got {repeats}")
    estimates = (method(draw(generator)) for _ in range(repeats))
    inside = sum(bool(found.low <= truth <= found.high) for found in estimates)
    limits = stats.binomtest(inside, repeats).proportion_ci(level)
    return Estimate(
        inside / repeats,
        float(limits.low),
        float(limits.high),
        repeats,
        level,
        "share of simulated intervals that hold the truth",
    )
