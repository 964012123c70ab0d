"""Tuning of learning rates: the rule that says which rates and seeds to try next and which rate is chosen, and the arms
that follow from it.

The rule, fixed before any run: every rate of the grid with the first seed; while the lowest loss lies at an edge of
what was tried, the grid is extended there by ``factor``; the ``keep`` best rates also with the other seeds; of those
the one with the lowest mean loss is chosen, unless it lies at an edge, which extends the grid again.  A diverged trial
has an infinite loss.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from actlab import paths
from actlab.errors import BadInput
from actlab.study.plan import Checked
from actlab.study.record import recorded

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
    ranked = sorted((r for r in rates if math.isfinite(losses[r, first])), key=lambda rate: losses[rate, first])
    if not ranked:
        return [], None
    if beyond := _beyond(ranked[0], rates, rule):
        return [(beyond, first)], None
    if missing := [(rate, seed) for rate in ranked[: rule.keep] for seed in others if (rate, seed) not in losses]:
        return missing, None
    tried = [rate for rate in ranked if all((rate, seed) in losses for seed in others)]
    best = min(tried, key=lambda rate: statistics.fmean(losses[rate, seed] for seed in rule.seeds))
    if beyond := _beyond(best, rates, rule):
        return [(beyond, first)], None
    return [], best


def _beyond(rate: float, rates: list[float], rule: Tuning) -> float | None:
    """The next rate outside the tried ones, where ``rate`` lies at their edge and the limits allow it."""
    further = rate * rule.factor if rate == rates[-1] else rate / rule.factor if rate == rates[0] else math.nan
    return further if rule.least <= further <= rule.most else None


def tuned(rule: Tuning, arm_of: Callable[[float, int], Any]) -> tuple[list[Any], float | None]:
    """(the arms of one choice that are recorded or wanted next; the chosen rate, once none is wanted).

    ``arm_of(rate, seed)`` makes an arm of one trial.
    """
    arms: list[Any] = []
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


def chosen(study: str, load: Callable[..., Any], choice: Callable[[Any], tuple[list[Any], float | None]]) -> float:
    """The rate that a cell of the study ``params/<study>.yaml`` chose; ``BadInput`` as long as it has not.

    ``load(path)`` gives the study's parameters, ``choice`` of them what ``tuned`` says of the cell.
    """
    path = paths.ROOT / "params" / f"{study}.yaml"
    params = load(path)
    if params.tuning is None:
        raise BadInput(f"{study} chooses no learning rates: {path} has no `tuning`")
    arms, rate = choice(params)
    if rate is None:
        cell = arms[0].id.rpartition("-")[0]
        raise BadInput(
            f"{study} has chosen no learning rate for {cell} yet ({len(arms)} trials are planned): run {path}"
        )
    return rate
