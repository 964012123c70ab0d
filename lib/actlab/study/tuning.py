"""The choice of a learning rate for each arm: which rates and seeds to try next, and which rate the recorded losses
choose.

The rule, fixed before any run: every rate of the grid with the first seed; while the lowest loss lies at an edge of
what was tried, the grid is extended there by ``factor``; the ``keep`` best rates also with the other seeds; of those
the one with the lowest mean loss is chosen, unless it lies at an edge, which extends the grid again.  A diverged trial
has an infinite loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import Field

from actlab.study.plan import Checked

A = TypeVar("A")
Losses = Mapping[tuple[float, int], float]
"""(rate, seed) -> the loss at the end, in nats; lower is better."""


class Tuning(Checked):
    """The grid and the seeds of a study that chooses learning rates (or multiples of the published ones)."""

    rates: list[float] = Field(min_length=2)
    seeds: list[int] = Field(min_length=1)
    keep: int = Field(2, ge=1)
    factor: float = Field(2.0, gt=1)
    least: float = Field(1e-5, gt=0)
    most: float = Field(1e3, gt=0)


def step(losses: Losses, rule: Tuning) -> tuple[list[tuple[float, int]], float | None]:
    """(the trials that the rule wants now and that have no loss yet; the chosen rate, once none is wanted).

    No rate is chosen where every one of them diverged.
    """
    first, *others = rule.seeds
    rates = sorted({*rule.rates, *(rate for rate, seed in losses if seed == first)})
    if missing := [(rate, first) for rate in rates if (rate, first) not in losses]:
        return missing, None
    ranked = sorted(
        (rate for rate in rates if math.isfinite(losses[rate, first])), key=lambda rate: losses[rate, first]
    )
    if not ranked:
        return [], None
    if beyond := _beyond(ranked[0], rates, rule):
        return [(beyond, first)], None
    if missing := [(rate, seed) for rate in ranked[: rule.keep] for seed in others if (rate, seed) not in losses]:
        return missing, None
    means = {
        rate: sum(losses[rate, seed] for seed in rule.seeds) / len(rule.seeds)
        for rate in ranked
        if all((rate, s) in losses for s in others)
    }
    best = min(means, key=lambda rate: means[rate])
    if beyond := _beyond(best, rates, rule):
        return [(beyond, first)], None
    return [], best


def tuned(
    rule: Tuning, arm_of: Callable[[float, int], A], recorded: Callable[[A], Mapping[str, Any] | None]
) -> tuple[list[A], float | None]:
    """(the arms of one choice that are recorded or wanted next; the chosen rate, once none is wanted).

    ``arm_of(rate, seed)`` makes an arm of one trial, ``recorded`` gives its record, if it has one.
    """
    arms: list[A] = []
    losses: dict[tuple[float, int], float] = {}
    while True:
        wanted, rate = step(losses, rule)
        fresh = [arm_of(*trial) for trial in wanted]
        arms += fresh
        records = [recorded(arm) for arm in fresh]
        if not wanted or None in records:
            return arms, rate
        losses |= {trial: _loss(record["trials"][0]) for trial, record in zip(wanted, records, strict=True) if record}


def _loss(trial: Mapping[str, Any]) -> float:
    return float(trial["final"]["val_loss"]) if trial["status"] == "done" else math.inf


def _beyond(rate: float, rates: list[float], rule: Tuning) -> float | None:
    """The next rate outside the tried ones, where ``rate`` lies at their edge and the limits allow it."""
    further = rate * rule.factor if rate == rates[-1] else rate / rule.factor if rate == rates[0] else math.nan
    return further if rule.least <= further <= rule.most else None
