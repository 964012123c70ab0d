"""Permutation tests: every relabelling that the null hypothesis allows, enumerated where feasible, else drawn at random.  No normal theory.

The observed labelling counts as one of those drawn (the +1 of Phipson & Smyth 2010).  Each test has a floor: with few trials even perfect separation
cannot give a small p-value, and two arms of three trials never reach 0.05.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from actlab.errors import BadInput
from actlab.statistics.estimate import Array, trials, vector
from actlab.statistics.tests import Arms, Outcome, block_anova, complete_blocks, one_way_anova, present

EXACT_LIMIT = 100_000
"""Up to this many relabellings are enumerated."""
RESAMPLES = 9_999
"""Random relabellings beyond that: a floor of 1 / 10,000."""

Draw = Callable[[np.random.Generator], Array]


def two_sample_floor(n_first: int, n_second: int) -> float:
    """Smallest two-sided p-value of ``permutation_two_sample``: 2 / C(n, n_first) for equal sizes, else 1 / C (no relabelling is a mirror image)."""
    return (2 if n_first == n_second else 1) / math.comb(n_first + n_second, n_first)


def sign_flip_floor(n: int) -> float:
    """Smallest two-sided p-value of ``permutation_paired`` with n pairs: 2 / 2^n."""
    return min(1.0, 2.0 ** (1 - n))


def f_floor(sizes: Sequence[int]) -> float:
    """Smallest p-value of ``permutation_f``: relabellings that only swap arms of one size give the same F, of n! / prod n_i! in all."""
    same = math.prod(math.factorial(list(sizes).count(size)) for size in set(sizes))
    return same / relabellings(sizes)


def block_floor(seeds: int, arms: int) -> float:
    """Smallest p-value of ``permutation_blocks``: arms! / (arms!)^seeds."""
    return float(math.factorial(arms)) ** (1 - seeds) if seeds else 1.0


def relabellings(sizes: Sequence[int]) -> int:
    """How many ways there are to deal n trials out to arms of these sizes: n! / prod n_i!."""
    return math.factorial(sum(sizes)) // math.prod(map(math.factorial, sizes))


def permutation_two_sample(a: ArrayLike, b: ArrayLike, generator: np.random.Generator | None = None, resamples: int = RESAMPLES) -> Outcome:
    """Whether two arms differ, by |mean(a) - mean(b)| over all ways to deal the values out (Fisher 1935, Pitman 1937); two-sided, independent trials.

    Args:
        a: (n,) one value per trial, NaN where missing.
        b: (m,) the same of the other arm; no shared seeds (else ``permutation_paired``).
        generator: needed only beyond ``EXACT_LIMIT`` relabellings.
        resamples: random relabellings there.

    Returns:
        An outcome whose statistic is mean(a) - mean(b), in the unit of the values.

    Raises:
        BadInput: an infinite value, or too many relabellings without a generator.
    """
    first, second = trials(a), trials(b)
    n = len(first) + len(second)
    if not len(first) or not len(second):
        return Outcome(math.nan, math.nan, n, "permutation of two arms", floor=1.0)
    values = centred(np.concatenate([first, second]))
    factor = 1 / len(first) + 1 / len(second)

    def statistic(chosen: NDArray[np.intp]) -> Array:
        return np.abs(values[chosen].sum(axis=1)) * factor

    def draw(source: np.random.Generator) -> Array:
        return statistic(shuffled(n, resamples, source)[:, : len(first)])

    floor = two_sample_floor(len(first), len(second))
    observed = float(first.mean() - second.mean())
    exact = (lambda: statistic(np.array(list(combinations(range(n), len(first)))))) if math.comb(n, len(first)) <= EXACT_LIMIT else None
    return outcome(observed, float(statistic(np.arange(len(first))[None])[0]), exact, draw, generator, n, "permutation of two arms", floor)


def permutation_paired(a: ArrayLike, b: ArrayLike, generator: np.random.Generator | None = None, resamples: int = RESAMPLES) -> Outcome:
    """Whether two arms that share seeds differ: |mean(a - b)| over all sign flips of the differences (Fisher 1935); two-sided.

    Args:
        a: (n,) one value per seed, NaN where missing.
        b: (n,) the same seeds in the same order.
        generator: needed only beyond ``EXACT_LIMIT`` sign patterns.
        resamples: random sign patterns there.

    Returns:
        An outcome whose statistic is mean(a - b); ``n`` counts shared seeds.

    Raises:
        BadInput: lengths differ, an infinite value, or too many sign patterns without a generator.
    """
    if vector(a).shape != vector(b).shape:
        raise BadInput(f"expected two arms with the same seeds in the same order, got {len(vector(a))} and {len(vector(b))} values")
    differences = trials(vector(a) - vector(b))
    n, method = len(differences), "sign flips of paired differences"
    if not n:
        return Outcome(math.nan, math.nan, 0, method, floor=1.0)

    def statistic(signs: Array) -> Array:
        return np.abs(signs @ differences) / n

    def draw(source: np.random.Generator) -> Array:
        return statistic(source.choice([-1.0, 1.0], size=(resamples, n)))

    exact = (lambda: statistic(np.array(list(product([1.0, -1.0], repeat=n))))) if 2**n <= EXACT_LIMIT else None
    observed = float(differences.mean())
    return outcome(observed, abs(observed), exact, draw, generator, n, method, sign_flip_floor(n))


def permutation_f(arms: Arms, generator: np.random.Generator | None = None, resamples: int = RESAMPLES) -> Outcome:
    """Whether the arms differ: the F of one-way ANOVA over all ways to deal the values out to arms of these sizes.

    Args:
        arms: name -> (n,) one value per trial, NaN where missing.
        generator: needed only beyond ``EXACT_LIMIT`` relabellings.
        resamples: random relabellings there.

    Raises:
        BadInput: fewer than two arms, an infinite value, or too many relabellings without a generator.
    """
    groups = list(present(arms).values())
    sizes, method = [len(group) for group in groups], "permutation of F"
    n = sum(sizes)
    observed = one_way_anova(arms).statistic
    if len(groups) < 2 or math.isnan(observed):
        return Outcome(math.nan, math.nan, n, method, floor=1.0)
    values, edges = centred(np.concatenate(groups)), np.cumsum([0, *sizes[:-1]])

    def statistic(order: NDArray[np.intp]) -> Array:
        """The sum of squares between arms: F grows with it, the total being fixed."""
        return np.asarray((np.add.reduceat(values[order], edges, axis=1) ** 2 / sizes).sum(axis=1))

    def draw(source: np.random.Generator) -> Array:
        return statistic(shuffled(n, resamples, source))

    exact = (lambda: statistic(np.array(list(deals(tuple(range(n)), sizes))))) if relabellings(sizes) <= EXACT_LIMIT else None
    return outcome(observed, float(statistic(np.arange(n)[None])[0]), exact, draw, generator, n, method, f_floor(sizes))


def permutation_blocks(table: ArrayLike, generator: np.random.Generator | None = None, resamples: int = RESAMPLES) -> Outcome:
    """Whether arms that share seeds differ: the F of ``block_anova`` over all permutations of the arms within each seed.

    Args:
        table: (seeds, arms) one value per trial; a seed that misses an arm is left out.
        generator: needed only beyond ``EXACT_LIMIT`` permutations.
        resamples: random permutations there.

    Raises:
        BadInput: as ``block_anova``, or too many permutations without a generator.
    """
    array = complete_blocks(table)
    seeds, arms = array.shape
    method, observed = "permutation within seeds", block_anova(table).statistic
    if math.isnan(observed):
        return Outcome(math.nan, math.nan, array.size, method, floor=1.0)
    centred_rows = array - array.mean(axis=1, keepdims=True)
    orders = np.array(list(permutations(range(arms)))) if math.factorial(arms) <= EXACT_LIMIT else np.empty((0, arms), dtype=int)

    def statistic(dealt: Array) -> Array:
        """(R, seeds, arms) -> sum over arms of squared sums over seeds: F grows with it."""
        return np.asarray((dealt.sum(axis=1) ** 2).sum(axis=1))

    def every() -> Array:
        choices = np.array(list(product(range(len(orders)), repeat=seeds)))
        return statistic(np.stack([centred_rows[seed][orders[choices[:, seed]]] for seed in range(seeds)], axis=1))

    def draw(source: np.random.Generator) -> Array:
        return statistic(source.permuted(np.broadcast_to(centred_rows, (resamples, seeds, arms)).copy(), axis=2))

    exact = every if math.factorial(arms) ** seeds <= EXACT_LIMIT else None
    return outcome(observed, float(statistic(centred_rows[None])[0]), exact, draw, generator, array.size, method, block_floor(seeds, arms))


def outcome(
    statistic: float,
    observed: float,
    exact: Callable[[], Array] | None,
    draw: Draw,
    generator: np.random.Generator | None,
    n: int,
    method: str,
    floor: float,
) -> Outcome:
    """Share of relabellings at least as extreme as the one observed; among random ones the observed one counts too, so p is never 0."""
    if exact is not None:
        return Outcome(statistic, float(as_extreme(exact(), observed).mean()), n, f"exact {method}", floor=floor)
    if generator is None:
        raise BadInput(f"expected a generator for the {method} of {n} values: more than {EXACT_LIMIT} relabellings are drawn, not enumerated")
    reached = as_extreme(draw(generator), observed)
    p_value = (1 + np.count_nonzero(reached)) / (1 + len(reached))
    return Outcome(statistic, p_value, n, f"Monte Carlo {method}", floor=max(floor, 1 / (1 + len(reached))))


def as_extreme(relabelled: Array, observed: float) -> NDArray[np.bool_]:
    """Where a relabelling reaches the observed statistic; rounding must not part equal ones."""
    return relabelled >= observed - 1e-9 * max(abs(observed), float(np.abs(relabelled).max(initial=0.0)))


def centred(values: Array) -> Array:
    """``values`` minus their mean: sums of small differences keep their digits."""
    return values - values.mean()


def shuffled(n: int, resamples: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """(resamples, n) random orders of 0..n-1."""
    return generator.permuted(np.broadcast_to(np.arange(n), (resamples, n)).copy(), axis=1)


def deals(items: tuple[int, ...], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every way to deal ``items`` out to arms of these sizes, as one tuple in the order of the arms."""
    if len(sizes) == 1:
        yield items
        return
    for chosen in combinations(items, sizes[0]):
        rest = tuple(item for item in items if item not in chosen)
        for tail in deals(rest, sizes[1:]):
            yield chosen + tail
