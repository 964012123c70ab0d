"""Rules that need no record: arithmetic of a text's own numbers, two of its statements, best checkpoints against the
last step, parameters of models, the coverage of a bootstrap."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from actlab.records.defect_names import FINAL
from actlab_audit import numbers
from actlab_audit.verdicts import COUNTED, Between, Finding, decided, explained

TEXT, COMPUTED = "the text's own numbers", "computed without records"
"""Bases of a finding; the second: what our models or methods do."""
FILES, CODE = "the text's own numbers and its result files", "the text and its code"
"""The same, where an input is in the result files and not in the text; where one of two statements is what the
project's code does."""
Statement = Between | str
"""Of a text: a number as precisely as it was given, or words."""
SEARCHES = (2, 4, 8)
"""How many scores the image study's searches draw."""


def total(terms: Sequence[Sequence[Any]], over: float = 1) -> list[float]:
    """From, to: a sum of products, divided; a factor is a number or [from, to]."""
    ends = sum(np.prod([np.broadcast_to(factor, 2) for factor in factors], axis=0) for factors in terms)
    return [float(end) for end in np.asarray(ends) / over]


def _means(values: dict[str, Any]) -> pd.Series:
    """Name -> the value, or the mean of its values."""
    return pd.Series(values).map(np.mean)


def _tukey(first: str, second: str) -> float:
    """p-value of two of charlm's activations by Tukey's honestly significant difference."""
    names, trials = zip(*numbers.charlm_trials.items(), strict=True)
    return float(stats.tukey_hsd(*trials).pvalue[names.index(first), names.index(second)])


DERIVED: dict[str, Callable[..., Any]] = {
    "total": total,
    "deviation": lambda values: np.std(values),
    "range": lambda **values: np.ptp(_means(values)),
    "spread": lambda **values: 100 * (_means(values).max() / _means(values).min() - 1),
    "correlation": lambda first, second: stats.spearmanr(first, second).statistic,
    "largest": lambda **values: [_means(values).idxmax()],
    "smallest": lambda **values: [_means(values).idxmin()],
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
    if not isinstance(value, list):
        return Between(value, value)
    return ", ".join(sorted(value)) if isinstance(value[0], str) else Between(*value)


def _agree(one: Statement, two: Statement) -> bool:
    return one.meets(two) if isinstance(one, Between) and isinstance(two, Between) else one == two


def arithmetic(stated: Any, how: str, follows: Any, basis: str = TEXT) -> Finding:
    """A stated number against what the text's own numbers give, or what we compute."""
    ours = _statement(follows)
    wrong = COUNTED if basis == COMPUTED else "arithmetic error"
    return Finding("checks out" if _agree(_statement(stated), ours) else wrong, f"{how}: {ours}", basis)


def selected(published: Any, how: str, best: Any, last: Any, cause: str = FINAL) -> Finding:
    """A claim that follows from the last step of published runs, against what their best checkpoints give."""
    stated, of_best, of_last = map(_statement, (published, best, last))
    found = Finding(decided(_agree(stated, of_best)), f"{how}: {of_best}", FILES)
    return explained(found, decided(_agree(stated, of_last)), f"{how}: {of_last}", cause)


def contradiction(first: Any, first_place: str, second: Any, second_place: str, basis: str = TEXT) -> Finding:
    """Two statements of one study about one thing, in texts or in a text and a file of the project."""
    one, two = _statement(first), _statement(second)
    other = "its files say otherwise" if basis in (CODE, FILES) else "self-contradiction"
    said = f"{one} ({first_place}) against {two} ({second_place})"
    return Finding("checks out" if _agree(one, two) else other, said, basis)


def parameters(stated: Sequence[float], scale: str, models: Sequence[str]) -> Finding:
    """A published number of parameters (from, to), against those of our models of that size."""
    counts = {model: numbers.our_parameters[model][scale] for model in models}
    holds = all(stated[0] <= count <= stated[1] for count in counts.values())
    said = ", ".join(f"{model} {count:,}" for model, count in counts.items())
    return Finding("checks out" if holds else COUNTED, said, f"models built at {scale} scale")


def _covered(k: int) -> float:
    """How often percentiles (2.5, 97.5) of the maxima of resamples of k normal scores hold the expected best of k.

    A resample's maximum is at most the j-th lowest score with probability (j/k)^k: the limits are the lowest score at
    which that passes 2.5%, and the best. The bootstrap is inconsistent for extremes (Bickel & Freedman 1981).
    """
    best = stats.norm.expect(lambda x: k * x * stats.norm.cdf(x) ** (k - 1))
    below = stats.binom(k, stats.norm.cdf(best))
    return float(below.cdf(k - 1) - below.cdf(math.ceil(k * 0.025 ** (1 / k)) - 1))


def bootstrap_covers() -> Finding:
    """M09: the published interval holds the expected best in 95%, as rounded."""
    shares = {k: _covered(k) for k in SEARCHES}
    said = ", ".join(f"{100 * share:.0f}% of samples of {k}" for k, share in shares.items())
    holds = min(shares.values()) >= 0.945
    return Finding("checks out" if holds else COUNTED, f"it holds the expected best in {said}", COMPUTED)


def _because(verdict: str) -> Callable[[str], Finding]:
    """A rule that gives this verdict for a reason."""
    return lambda reason: Finding(verdict, reason)


ambiguous = _because("ambiguous")
"""What holds in one sense of the text and fails in another."""
not_testable = _because("not testable")
"""What neither text, code nor a training run can show."""
without_run = _because("no run behind it")
"""A number that the project did not get from runs, or not wholly."""
not_run = _because("not run")
"""What a run of ours would show, where no rule reads one yet."""
