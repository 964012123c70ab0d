"""General rules that need no record: arithmetic of a text's own numbers, two of its statements, parameters of
models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats

from actlab.claims.audited_numbers import numbers
from actlab.claims.audited_numbers import parameters as parameters_of
from actlab.claims.verdicts import FILES, TEXT, Between, Finding, Verdict, decided
from actlab.statistics.means import spearman

Statement = Between | frozenset[str]
"""Of a text: a number as precisely as it was given, or words."""


def total(terms: Sequence[Sequence[Any]], over: float = 1) -> Between:
    """A sum of products, divided; a factor is a number or [from, to]."""
    ends = [
        sum(math.prod(f[end] if isinstance(f, list) else f for f in factors) for factors in terms) / over
        for end in (0, -1)
    ]
    return Between(*ends)


def _tukey(*pair: str) -> float:
    """p-value of two of charlm's activations by Tukey's honestly significant difference."""
    places = tuple(map(list(numbers.charlm_trials).index, pair))
    return float(stats.tukey_hsd(*numbers.charlm_trials.values()).pvalue[places])


def _exactly(value: float) -> Between:
    return Between(value, value)


DERIVED: dict[str, Callable[..., Statement]] = {
    "total": total,
    "deviation": lambda values: _exactly(float(np.std(values))),
    "correlation": lambda first, second: _exactly(spearman(first, second)),
    "largest": lambda **values: frozenset({max(values, key=values.__getitem__)}),
    "smallest": lambda **values: frozenset({min(values, key=values.__getitem__)}),
    "p_of_f": lambda statistic, degrees: Between(*map(float, stats.f.sf(statistic, *degrees))),
    "tukey_p": lambda first, second: _exactly(_tukey(first, second)),
}
"""What follows from numbers of a text, by name."""


def _statement(value: Any) -> Statement:
    """A number, [from, to], a list of words, or what follows: {name of ``DERIVED``: its arguments}."""
    if isinstance(value, dict):
        ((name, arguments),) = value.items()
        return DERIVED[name](**arguments)
    if isinstance(value, list):
        return frozenset(value) if isinstance(value[0], str) else Between(*value)
    return _exactly(value)


def arithmetic(evidence: object, stated: Any, how: str, follows: Mapping[str, Any], files: bool = False) -> Finding:
    """A stated number against what the text's own numbers give; ``files``: some are of its result files."""
    ours = _statement(follows)
    verdict: Verdict = "replicated" if _meet(_statement(stated), ours) else "arithmetic error"
    return Finding(verdict, f"{how}: {ours}", FILES if files else TEXT)


def contradiction(
    evidence: object,
    first: Any,
    first_place: str,
    second: Any,
    second_place: str,
    exact: bool = False,
    files: bool = False,
) -> Finding:
    """Two statements of one study about one thing; ``exact``: two ranges must be the same, not only meet."""
    one, two = _statement(first), _statement(second)
    agree = one == two or (not exact and _meet(one, two))
    said = " against ".join(
        f"{statement if isinstance(statement, Between) else ', '.join(sorted(statement))} ({place})"
        for statement, place in ((one, first_place), (two, second_place))
    )
    return Finding("replicated" if agree else "self-contradiction", said, FILES if files else TEXT)


def _meet(one: Statement, two: Statement) -> bool:
    return isinstance(one, Between) and isinstance(two, Between) and one.meets(two)


def parameters(evidence: object, stated: tuple[float, float], scale: str, models: Sequence[str]) -> Finding:
    """A published number of parameters (from, to), against those of our models of that size."""
    counts = {model: parameters_of(model, scale) for model in models}
    holds = all(stated[0] <= count <= stated[1] for count in counts.values())
    said = ", ".join(f"{model} {count:,}" for model, count in counts.items())
    return decided(holds, said, f"models built at {scale} scale")


def not_testable(evidence: object, reason: str) -> Finding:
    """What neither text, code nor a training run can show."""
    return Finding("not testable", reason)
