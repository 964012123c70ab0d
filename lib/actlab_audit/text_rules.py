"""Rules that need no record: arithmetic of a text's own numbers, two of its statements, best checkpoints against the
last step, parameters of models, the coverage of a bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from actlab.records.defect_names import FINAL
from actlab_audit import numbers
from actlab_audit.verdicts import CODE, FILES, TEXT, Between, Finding, counted, decided, explained

Statement = Between | frozenset[str]
"""Of a text: a number as precisely as it was given, or words."""
SEARCHES = (2, 4, 8)
"""How many scores the image study's searches draw."""


def total(terms: Sequence[Sequence[Any]], over: float = 1) -> list[float]:
    """From, to: a sum of products, divided; a factor is a number or [from, to]."""
    return [
        sum(math.prod(f[end] if isinstance(f, list) else f for f in factors) for factors in terms) / over
        for end in (0, -1)
    ]


def _tukey(first: str, second: str) -> float:
    """p-value of two of charlm's activations by Tukey's honestly significant difference."""
    trials = numbers.charlm_trials
    found = stats.tukey_hsd(*trials.values())
    return float(pd.DataFrame(found.pvalue, [*trials], [*trials]).loc[first, second])


def _means(**values: Any) -> pd.Series:
    """Name -> the value, or the mean of its values."""
    return pd.Series(values).map(np.mean)


def _spread(**values: Any) -> float:
    """Of the values, or of means of values, in percent of the lowest."""
    means = _means(**values)
    return float(100 * (means.max() / means.min() - 1))


DERIVED: dict[str, Callable[..., Any]] = {
    "total": total,
    "deviation": lambda values: np.std(values),
    "range": lambda **values: float(np.ptp(_means(**values))),
    "spread": _spread,
    "correlation": lambda first, second: float(stats.spearmanr(first, second).statistic),
    "largest": lambda **values: [_means(**values).idxmax()],
    "smallest": lambda **values: [_means(**values).idxmin()],
    "p_of_f": lambda statistic, degrees: [*stats.f.sf(statistic, *degrees)],
    "tukey_p": _tukey,
    "sizes": lambda model, large, small: numbers.our_parameters[model][large] / numbers.our_parameters[model][small],
}
"""What follows from numbers of a text, by name: a number, [from, to] or a list of words."""


def _statement(value: Any) -> Statement:
    """A number, [from, to], a list of words, or what follows: {name of ``DERIVED``: its arguments, or the name of
    audited numbers}."""
    if isinstance(value, dict):
        ((name, arguments),) = value.items()
        value = DERIVED[name](**(getattr(numbers, arguments) if isinstance(arguments, str) else arguments))
    if isinstance(value, list):
        return frozenset(value) if isinstance(value[0], str) else Between(*value)
    return Between(value, value)


def _said(value: Statement) -> str:
    return str(value) if isinstance(value, Between) else ", ".join(sorted(value))


def _agree(one: Statement, two: Statement, exact: bool = False) -> bool:
    return one == two or (not exact and isinstance(one, Between) and isinstance(two, Between) and one.meets(two))


def arithmetic(
    evidence: object,
    stated: Any,
    how: str,
    follows: Mapping[str, Any],
    basis: str = TEXT,
    computed: bool = False,
    exact: bool = False,
) -> Finding:
    """A stated number against what the text's own numbers give; ``computed``: against what our models or methods do;
    ``exact``: two ranges must be the same, not only meet."""
    one, ours = _statement(stated), _statement(follows)
    holds, said = _agree(one, ours, exact), f"{how}: {_said(ours)}"
    if computed:
        return counted(holds, said, "computed without records")
    return Finding("checks out" if holds else "arithmetic error", said, basis)


def selected(evidence: object, published: Any, how: str, best: Any, last: Any, flaw: str = FINAL) -> Finding:
    """A claim that follows from the last step of published runs, against what their best checkpoints give."""

    def judged(follows: Any) -> Finding:
        ours = _statement(follows)
        return decided(_agree(_statement(published), ours), f"{how}: {_said(ours)}", FILES)

    return explained(judged(best), judged(last), flaw)


def contradiction(
    evidence: object,
    first: Any,
    first_place: str,
    second: Any,
    second_place: str,
    exact: bool = False,
    basis: str = TEXT,
) -> Finding:
    """Two statements of one study about one thing, in texts or in a text and a file of the project; ``exact``: two
    ranges must be the same, not only meet."""
    one, two = _statement(first), _statement(second)
    said = f"{_said(one)} ({first_place}) against {_said(two)} ({second_place})"
    other = "its files say otherwise" if basis in (CODE, FILES) else "self-contradiction"
    return Finding("checks out" if _agree(one, two, exact) else other, said, basis)


def parameters(evidence: object, stated: tuple[float, float], scale: str, models: Sequence[str]) -> Finding:
    """A published number of parameters (from, to), against those of our models of that size."""
    counts = {model: numbers.our_parameters[model][scale] for model in models}
    holds = all(stated[0] <= count <= stated[1] for count in counts.values())
    said = ", ".join(f"{model} {count:,}" for model, count in counts.items())
    return counted(holds, said, f"models built at {scale} scale")


def _covered(k: int) -> float:
    """How often percentiles (2.5, 97.5) of the maxima of resamples of k normal scores hold the expected best of k.

    A resample's maximum is at most the j-th lowest score with probability (j/k)^k: the limits are the lowest score at
    which that passes 2.5%, and the best. The bootstrap is inconsistent for extremes (Bickel & Freedman 1981).
    """
    best = stats.norm.expect(lambda x: k * x * stats.norm.cdf(x) ** (k - 1))
    below = stats.binom(k, stats.norm.cdf(best))
    return float(below.cdf(k - 1) - below.cdf(math.ceil(k * 0.025 ** (1 / k)) - 1))


def bootstrap_covers(evidence: object) -> Finding:
    """M09: the published interval holds the expected best in 95%, as rounded."""
    shares = {k: _covered(k) for k in SEARCHES}
    said = ", ".join(f"{100 * share:.0f}% of samples of {k}" for k, share in shares.items())
    return counted(min(shares.values()) >= 0.945, f"it holds the expected best in {said}", "computed without records")


def ambiguous(evidence: object, reason: str) -> Finding:
    """What holds in one sense of the text and fails in another."""
    return Finding("ambiguous", reason)


def not_testable(evidence: object, reason: str) -> Finding:
    """What neither text, code nor a training run can show."""
    return Finding("not testable", reason)


def without_run(evidence: object, reason: str) -> Finding:
    """A number that the project did not get from runs, or not wholly."""
    return Finding("no run behind it", reason)


def not_run(evidence: object, reason: str) -> Finding:
    """What a run of ours would show, where no rule reads one yet."""
    return Finding("not run", reason, lacks="a study of its own")
