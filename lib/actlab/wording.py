"""Small pieces that every page's sentences share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scipy import stats

from actlab.statistics.estimate import Estimate


def p_value(estimate: Estimate) -> float:
    """Two-sided p-value of 0 that belongs to a t interval with n - 1 degrees of freedom; 1 where there is no interval, or none but at 0."""
    half = (estimate.high - estimate.low) / 2
    if not half > 0:
        return 1.0 if not estimate.value or estimate.low != estimate.low else 0.0
    quantile = stats.t.ppf((1 + estimate.level) / 2, estimate.n - 1)
    return float(2 * stats.t.sf(abs(estimate.value) / half * quantile, estimate.n - 1))


def bullets(sentences: Iterable[str]) -> Any:
    """Sentences as a Markdown list for a notebook; empty ones are left out."""
    from IPython.display import Markdown

    return Markdown("\n".join(f"- {text[0].upper()}{text[1:]}." for text in sentences if text))  # type: ignore[no-untyped-call]


def publish(named: dict[str, Any]) -> None:
    """Hand values to the book's pages under their names (myst-nb's glue)."""
    from myst_nb import glue

    for name, value in named.items():
        glue(name, value, display=False)
