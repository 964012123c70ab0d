"""The rule that says which learning rates and seeds to try next, and which rate is chosen.

Fixed before any run: every rate of the grid with the first seed; while the lowest loss lies at an edge of what was
tried, the grid is extended there by ``factor``; the ``keep`` best rates also with the other seeds; of those the one
with the lowest mean loss is chosen, unless it lies at an edge, which extends the grid again.  A diverged trial has an
infinite loss.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated, ClassVar

from annotated_types import Ge, Gt, Lt, MinLen

Rate = Annotated[float, Gt(0), Lt(math.inf)]
Losses = Mapping[tuple[float, int], float]
"""(rate, seed) -> the loss at the end, in nats; lower is better."""


@dataclass(frozen=True)
class Rule:
    """The grid, the seeds and the limits of a study that chooses learning rates (or multiples of the published
    ones)."""

    __pydantic_config__: ClassVar = {"extra": "forbid", "use_attribute_docstrings": True}
    rates: Annotated[list[Rate], MinLen(1)]
    """The grid that is tried first."""
    seeds: Annotated[list[int], MinLen(1)]
    """The first tries every rate, the others the best."""
    keep: Annotated[int, Ge(1)] = 2
    """How many of the best rates the other seeds try."""
    factor: Annotated[float, Gt(1), Lt(math.inf)] = 2.0
    """Between the edge of the grid and the next rate beyond it."""
    least: Rate = 1e-5
    """No rate below this is tried."""
    most: Rate = 1e3
    """No rate above this is tried."""


def step(losses: Losses, rule: Rule) -> tuple[list[tuple[float, int]], float | None]:
    """Return (the trials that the rule wants next and that have no loss yet; the chosen rate, once none is wanted).

    No rate is chosen where every one of them diverged.
    """
    first, *others = rule.seeds
    rates = sorted({*rule.rates, *(rate for rate, seed in losses if seed == first)})

    def untried(rates: list[float], seeds: list[int]) -> list[tuple[float, int]]:
        return [trial for trial in product(rates, seeds) if trial not in losses]

    def beyond(rate: float) -> list[tuple[float, int]]:
        """Return the next rate outside the tried ones, where ``rate`` lies at their edge and the limits allow it."""
        further = math.nan
        if rate == rates[-1]:
            further = rate * rule.factor
        elif rate == rates[0]:
            further = rate / rule.factor
        return [(further, first)] if rule.least <= further <= rule.most else []

    if wanted := untried(rates, [first]):
        return wanted, None
    finite = [rate for rate in rates if math.isfinite(losses[rate, first])]
    ranked = sorted(finite, key=lambda rate: losses[rate, first])
    if not ranked:
        return [], None
    if wanted := beyond(ranked[0]) or untried(ranked[: rule.keep], others):
        return wanted, None
    tried = [rate for rate in ranked if not untried([rate], others)]
    best = min(tried, key=lambda rate: mean_loss(losses, rate, rule))
    if wanted := beyond(best):
        return wanted, None
    return [], best


def mean_loss(losses: Losses, rate: float, rule: Rule) -> float:
    """Average the losses of a rate over the seeds of the rule."""
    return statistics.fmean(losses[rate, seed] for seed in rule.seeds)
