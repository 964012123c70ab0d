"""Tuning of learning rates: the rule that says which rates and seeds to try next and which rate is chosen, and the arms
that follow from it.

The rule, fixed before any run: every rate of the grid with the first seed; while the lowest loss lies at an edge of
what was tried, the grid is extended there by ``factor``; the ``keep`` best rates also with the other seeds; of those
the one with the lowest mean loss is chosen, unless it lies at an edge, which extends the grid again.  A diverged trial
has an infinite loss.
"""

import math
import statistics
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from actlab import paths
from actlab.errors import BadInput
from actlab.study.params.plan import Tuning
from actlab.study.write_record import recorded

Losses = Mapping[tuple[float, int], float]
"""(rate, seed) -> the loss at the end, in nats; lower is better."""
Choice = tuple[list[Any], float | None]
"""What ``tuned`` returns."""


def step(losses: Losses, rule: Tuning) -> tuple[list[tuple[float, int]], float | None]:
    """(the trials that the rule wants now and that have no loss yet; the chosen rate, once none is wanted).

    No rate is chosen where every one of them diverged.
    """
    first, *others = rule.seeds
    rates = sorted({*rule.rates, *(rate for rate, seed in losses if seed == first)})

    def untried(rates: list[float], seeds: list[int]) -> list[tuple[float, int]]:
        return [trial for trial in product(rates, seeds) if trial not in losses]

    def beyond(rate: float) -> list[tuple[float, int]]:
        """The next rate outside the tried ones, where ``rate`` lies at their edge and the limits allow it."""
        further = rate * rule.factor if rate == rates[-1] else rate / rule.factor if rate == rates[0] else math.nan
        return [(further, first)] if rule.least <= further <= rule.most else []

    if wanted := untried(rates, [first]):
        return wanted, None
    ranked = sorted((r for r in rates if math.isfinite(losses[r, first])), key=lambda rate: losses[rate, first])
    if not ranked:
        return [], None
    if wanted := beyond(ranked[0]) or untried(ranked[: rule.keep], others):
        return wanted, None
    tried = [rate for rate in ranked if not untried([rate], others)]
    best = min(tried, key=lambda rate: statistics.fmean(losses[rate, seed] for seed in rule.seeds))
    wanted = beyond(best)
    return wanted, None if wanted else best


def tuned(params: Any, field: str, arm: Callable[..., Any], *cell: str) -> Choice:
    """Of one cell of a study that chooses ``field``, a learning rate: its arms that are recorded or wanted next; the
    chosen rate, once none is wanted. ``arm(params, *cell)`` makes an arm."""
    arms: list[Any] = []
    losses: dict[tuple[float, int], float] = {}
    while True:
        wanted, rate = step(losses, params.tuning)
        fresh = [arm(params.replace(**{field: rate, "seed": seed, "trials": 1}), *cell) for rate, seed in wanted]
        arms += fresh
        records = [recorded(arm) for arm in fresh]
        if not wanted or None in records:
            return arms, rate
        losses |= {trial: _loss(record["trials"][0]) for trial, record in zip(wanted, records, strict=True) if record}


def _loss(trial: Mapping[str, Any]) -> float:
    return float(trial["final"]["val_loss"]) if trial["status"] == "done" else math.inf


def chosen(study: str, load: Callable[..., Any], choice: Callable[[Any], Choice]) -> float:
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
