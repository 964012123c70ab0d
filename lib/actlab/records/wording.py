"""How numbers are written: with intervals, signs and n; spans, lists of names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from actlab.statistics.estimate import Estimate, log_limits

Key = TypeVar("Key", bound=Hashable)
FEW_DIFFER = "too few trials differ for an interval"
"""Method of an estimate over pairs whose trials are nearly all alike."""


def above_zero(estimate: Estimate) -> Estimate:
    """What cannot be negative, with its interval on a logarithmic scale (``log_limits``)."""
    low, high = log_limits(estimate.value, estimate.low, estimate.high)
    return replace(estimate, low=float(low), high=float(high))


def listing(names: Iterable[str]) -> str:
    """Names in a sentence: ``a``, ``a and b``, ``a, b and c``; ``none`` of none."""
    *first, last = [*names] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


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
