"""Pair metrics (total variation, ...) of arms compared at equal validation loss: interpolation, jackknife, equivalence.

A pair metric moves with the loss, and the loss at a fixed step with the speed of learning.
Here every arm is read where its mean loss is the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actlab.errors import BadInput
from actlab.statistics.estimate import Array, Estimate
from actlab.statistics.means import jackknifed

Indices = NDArray[np.intp]
METHOD = "at equal loss, jackknife over seeds"


@dataclass(frozen=True)
class Curves:
    """One arm's training: E evaluations in their order, M trials in the order of the seeds; NaN: no such trial."""

    losses: Array
    """(E, M) validation loss, nats; lower is better."""
    pairs: Array
    """(E, M, M) symmetric: the metric between two trials; lower is more reproducible; the diagonal is not read."""

    def means(self, seeds: Indices | None = None) -> tuple[Array, Array]:
        """(E,) mean loss over trials, all that have it at every evaluation unless given, and (E,) mean metric over
        their pairs."""
        seeds = shared_seeds([self]) if seeds is None else seeds
        i, j = np.triu_indices(len(seeds), 1)
        return self.losses[:, seeds].mean(axis=1), self.pairs[:, seeds[i], seeds[j]].mean(axis=1)

    def between_equals(self, seeds: Indices, at: float) -> float:
        """The metric at a mean loss, of pairs of these trials whose own losses are equal: of a line through the pairs,
        metric against distance of the losses, its value at distance 0."""
        (i, j), losses = np.triu_indices(len(seeds), 1), self.losses[:, seeds]
        both = np.abs(losses[:, i] - losses[:, j]), self.pairs[:, seeds[i], seeds[j]]
        x, y = (interpolated(losses.mean(axis=1), values, at) for values in both)
        return float(y.mean() - np.cov(x, y)[0, 1] / x.var(ddof=1) * x.mean())


@dataclass(frozen=True)
class EqualLoss:
    """Arms at one validation loss; every number rests on the seeds that all arms have, and ``n`` counts them."""

    loss: float
    """Validation loss at which the arms are read, nats."""
    values: dict[str, Estimate]
    """The metric of each arm there; NaN for an arm that was never above the level."""
    differences: dict[str, Estimate]
    """Each other arm minus the reference, by shared seeds; below 0: more reproducible than the reference."""


def equal_loss(arms: Mapping[str, Curves], reference: str, earlier: float = 0.0) -> EqualLoss:
    """Each arm's mean over pairs at the loss that all arms reach, and its difference from the reference arm's.

    The loss: the highest of the arms' mean final losses.  An arm is read by linear interpolation of its mean over
    pairs, on its mean loss over trials, between the first evaluation at or below that loss and the one before.
    Intervals: a jackknife that leaves one seed out of all arms and repeats everything, the choice of the loss too;
    t with M - 1 degrees of freedom.  Simulated (two arms of different speeds whose metric is one function of the
    loss, or two that are 0.01 apart; 6 and 11 evaluations; 1,000 repeats each): false alarms 4 to 5% at three seeds,
    3% at five, 5 to 6% at ten (nominal 5%, Monte-Carlo error 0.7), coverage of the difference 95 to 97%.  Six arms of
    ten shared seeds, 17 evaluations, 4,000 repeats: 2 to 5% at 5%, and 0.03 to 0.14% at 0.17%, Holm's first step of 30
    (equal or different speeds, a steep metric, lognormal seed effects, seeds that leave a plateau at different steps).
    An arm that does not learn would set the loss: leave it out before.

    Args:
        arms: name -> curves, of the same M seeds in the same order; evaluations may differ from arm to arm.
        reference: name of the arm with which the others are compared.
        earlier: share of the way from that loss (0) up to the lowest of the arms' mean first losses (1): another
            moment.

    Returns:
        Estimates in the unit of the pairs; no value below two seeds that every arm has, no interval below three.

    Raises:
        BadInput: arms with different numbers of seeds, or one evaluation only.
    """
    shapes = [arm.losses.shape for arm in arms.values()]
    if len({seeds for _, seeds in shapes}) > 1 or min(shapes)[0] < 2:
        raise BadInput(f"expected arms of the same seeds with at least two evaluations, got shapes (E, M) {shapes}")
    seeds = shared_seeds(arms.values())
    value, loss = read_at(arms, seeds, earlier)
    left_out = [read_at(arms, np.delete(seeds, i), earlier)[0] for i in range(len(seeds))]
    read = np.array([value, *left_out])  # (1 + M, A)

    def jackknives(columns: Array) -> dict[str, Estimate]:
        return {name: jackknifed(of[0], of[1:], METHOD) for name, of in zip(arms, columns.T, strict=True)}

    differences = jackknives(read - read[:, [list(arms).index(reference)]])
    del differences[reference]
    return EqualLoss(loss, jackknives(read), differences)


def shared_seeds(arms: Iterable[Curves]) -> Indices:
    """The seeds that every one of the arms has done; none without an arm."""
    losses = [arm.losses for arm in arms]
    return np.flatnonzero(~np.isnan(np.vstack(losses)).any(axis=0)) if losses else np.arange(0)


def read_at(
    arms: Mapping[Any, Curves], seeds: Indices, earlier: float = 0.0, equal_seeds: bool = False
) -> tuple[Array, float]:
    """((A,) metric of the trials of these seeds alone at the level, the level); NaN for an arm that begins below it;
    ``equal_seeds``: of pairs whose own losses are equal."""
    if len(seeds) < 2:
        return np.full(len(arms), np.nan), math.nan
    curves = [arm.means(seeds) for arm in arms.values()]
    last = max(losses[-1] for losses, _ in curves)
    at = last + earlier * (min(losses[0] for losses, _ in curves) - last) if earlier else last
    if equal_seeds:
        return np.array([arm.between_equals(seeds, at) for arm in arms.values()]), float(at)
    return np.array([interpolated(losses, pairs, at) for losses, pairs in curves]), float(at)


def interpolated(losses: Array, pairs: Array, at: float) -> Array:
    """The (E, ...) metric where the (E,) losses first come down to ``at``; NaN: they begin below, or never do."""
    below = losses <= at
    if not below.any() or losses[0] < at:
        return np.full(pairs.shape[1:], math.nan)
    after = int(below.argmax())
    share = (at - losses[after]) / (losses[after - 1] - losses[after]) if after else 0.0
    return np.asarray(pairs[after] + share * (pairs[after - 1] - pairs[after]))
