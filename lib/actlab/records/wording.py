"""How numbers are written: with intervals, signs and n; spans, lists of names."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from actlab.statistics.estimate import Estimate

Key = TypeVar("Key", bound=Hashable)
FEW_DIFFER = "too few trials differ for an interval"
"""Method of an estimate over pairs whose trials are nearly all alike."""


def capital(text: str) -> str:
    """With a capital first letter, the rest as it is."""
    return text[:1].upper() + text[1:]


def above_zero(estimate: Estimate) -> Estimate:
    """What cannot be negative, with its interval on a logarithmic scale: the same standard error, value / f to value x
    f.

    It never reaches 0, and covers better where pairs scatter widely (``pair_mean``). Differences keep theirs.
    """
    if not estimate.value > 0:
        return estimate
    reach = (estimate.high - estimate.low) / 2 / estimate.value
    return replace(estimate, low=estimate.value * math.exp(-reach), high=estimate.value * math.exp(reach))


def with_interval(estimate: Estimate, digits: int = 4) -> str:
    """``0.1234 [0.1200, 0.1270]``; the value alone where there is no interval."""
    if np.isnan(estimate.value):
        return "no pair" if estimate.n < 2 else "NaN"
    if np.isnan(estimate.low):
        return f"{estimate.value:.{digits}f}{f' ({FEW_DIFFER})' if estimate.method == FEW_DIFFER else ''}"
    return _bracketed(estimate, f".{digits}f")


def listing(names: Iterable[str]) -> str:
    """Names in a sentence: ``a``, ``a and b``, ``a, b and c``; ``none`` of none."""
    *first, last = [*names] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def span(values: Iterable[float], form: str = ".0f") -> str:
    """``3`` or ``3 to 5``."""
    found = list(values)
    return " to ".join(dict.fromkeys(f"{end:{form}}" for end in (min(found), max(found))))


def ends(found: Mapping[Key, float]) -> list[Key]:
    """The names of the smallest and of the largest value; one where they are the same."""
    return list(dict.fromkeys(pick(found, key=found.__getitem__) for pick in (min, max)))


def small(value: float) -> str:
    """Two significant digits, as a plain number down to 0.0001 and in powers of ten below."""
    return "0" if value == 0 else f"{value:#.2g}".rstrip(".") if abs(value) >= 1e-4 else f"{value:.1e}"


def signed(estimate: Estimate, digits: int = 3) -> str:
    """A difference with its sign: ``+0.080 [+0.065, +0.094]``; it says so where there is no interval."""
    return _bracketed(estimate, f"+.{digits}f")


def measured(estimate: Estimate, digits: int = 3, unit: str = "") -> str:
    """``0.597 [0.590, 0.604], n = 3``, the unit after the value; it says so where there is no value or no interval."""
    if np.isnan(estimate.value):
        return f"no value, n = {estimate.n}"
    return f"{_bracketed(estimate, f'.{digits}f', unit)}, n = {estimate.n}"


def _bracketed(estimate: Estimate, form: str, unit: str = "") -> str:
    interval = "no interval" if np.isnan(estimate.low) else f"{estimate.low:{form}}, {estimate.high:{form}}"
    return f"{estimate.value:{form}}{unit} [{interval}]"
