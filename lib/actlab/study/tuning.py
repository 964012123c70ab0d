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
from typing import Any, TypeVar

from actlab import paths
from actlab.errors import BadInput
from actlab.study.plan import Tuning
from actlab.study.record import recorded
from actlab.study.study import LanguageStudy
from actlab.study.trial import Arm, T

Losses = Mapping[tuple[float, int], float]
"""(rate, seed) -> the loss at the end, in nats; lower is better."""
S = TypeVar("S", bound=LanguageStudy)


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


def tuned(study: S, field: str, arm: Callable[[S], Arm[T]]) -> tuple[list[Arm[T]], float | None]:
    """Of a study of one cell that chooses ``field``, a learning rate: its arms that are recorded or wanted next; the
    chosen rate, once none is wanted. ``arm(study)`` makes the arm of a study of one."""
    assert study.tuning is not None
    arms: list[Arm[T]] = []
    losses: dict[tuple[float, int], float] = {}
    while True:
        wanted, rate = step(losses, study.tuning)
        fresh = [arm(study.replace(**{field: rate, "seed": seed, "trials": 1})) for rate, seed in wanted]
        arms += fresh
        records = [recorded(arm) for arm in fresh]
        if not wanted or None in records:
            return arms, rate
        losses |= {trial: _loss(record["trials"][0]) for trial, record in zip(wanted, records, strict=True) if record}


def _loss(trial: Mapping[str, Any]) -> float:
    return float(trial["final"]["val_loss"]) if trial["status"] == "done" else math.inf


def chosen(study: str, kind: type[S], choice: Callable[[S], tuple[list[Arm[T]], float | None]]) -> float:
    """The rate that a cell of the study ``params/<study>.yaml`` chose; ``BadInput`` as long as it has not.

    ``kind``: of the study; ``choice``: of its parameters, what ``tuned`` says of the cell.
    """
    path = paths.params_file(study)
    params = kind.load(path)
    if params.tuning is None:
        raise BadInput(f"{study} chooses no learning rates: {path} has no `tuning`")
    arms, rate = choice(params)
    if rate is None:
        raise BadInput(
            f"{study} has chosen no learning rate for {arms[0].name} yet ({len(arms)} trials are planned): "
            f"run {paths.shown(path)}"
        )
    return rate
