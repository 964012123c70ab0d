"""Tests of claims that need no training: a text's numbers recomputed or compared, each with its rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from actlab.claims import Finding, Kind
from actlab.claims.sizes import parameters
from actlab.claims.verdicts import FILES, TEXT, Between, conflicting, decided, explained, recomputed, untestable

PUBLISHED_PAGE = "studies/report"
"""The page that shows the published tables."""


@dataclass(frozen=True)
class Recomputed:
    """``stated`` should follow from other numbers of the text; ``follows`` computes it."""

    stated: Between
    follows: Callable[[], Between | float]
    how: str
    rule: str = (
        "arithmetic error if the stated number, as rounded, is not what the text's own numbers give; "
        "replicated otherwise"
    )
    page: str = PUBLISHED_PAGE
    kind: Kind = "count"
    basis: str = TEXT

    def __call__(self, evidence: object) -> Finding:
        """Compute and compare."""
        found = self.follows()
        ours = found if isinstance(found, Between) else Between(found, found)
        return replace(recomputed(self.stated, ours, f"{self.how}: {ours}"), basis=self.basis)


@dataclass(frozen=True)
class Conflict:
    """Two statements about one thing, each a range of numbers or a set of words, with its place."""

    first: Between | frozenset[str]
    first_where: str
    second: Between | frozenset[str]
    second_where: str
    exact: bool = False
    """Ranges must be the same, not only meet."""
    rule: str = "self-contradiction if the two statements cannot both be true; replicated otherwise"
    page: str = PUBLISHED_PAGE
    kind: Kind = "count"
    basis: str = TEXT

    def __call__(self, evidence: object) -> Finding:
        """Compare the two."""
        ranges = isinstance(self.first, Between) and isinstance(self.second, Between) and not self.exact
        both = ranges and self.first.meets(self.second)  # type: ignore[union-attr, arg-type]
        said = f"{_words(self.first)} ({self.first_where}) against {_words(self.second)} ({self.second_where})"
        return replace(conflicting(both or self.first == self.second, said), basis=self.basis)


def _words(statement: Between | frozenset[str]) -> str:
    return str(statement) if isinstance(statement, Between) else ", ".join(sorted(statement))


def words(*names: str) -> frozenset[str]:
    """A statement that names things."""
    return frozenset(names)


@dataclass(frozen=True)
class Untestable:
    """Why no number of ours could decide."""

    reason: str
    rule: str = "not testable: the reason is given"
    page: str = PUBLISHED_PAGE
    kind: Kind = "count"

    def __call__(self, evidence: object) -> Finding:
        """The reason."""
        return untestable(self.reason)


@dataclass(frozen=True)
class Counted:
    """A published number of parameters, against the models built."""

    stated: Between
    scale: str
    models: tuple[str, ...]
    rule: str = "replicated if every model named has as many trainable parameters as stated, as rounded"
    page: str = "studies/repro-models"
    kind: Kind = "count"

    def __call__(self, evidence: object) -> Finding:
        """Count them."""
        counts = {model: parameters(model, self.scale) for model in self.models}
        said = ", ".join(f"{model} {count:,}" for model, count in counts.items())
        return decided(
            all(self.stated.low <= count <= self.stated.high for count in counts.values()),
            said,
            f"models built at {self.scale} scale",
        )


@dataclass(frozen=True)
class Judged:
    """A statement that a computation decides, without records: its outcome and what it found."""

    outcome: Callable[[], tuple[bool, str]]
    rule: str
    page: str = PUBLISHED_PAGE
    kind: Kind = "count"

    def __call__(self, evidence: object) -> Finding:
        """Compute."""
        return decided(*self.outcome(), "computed without records")


@dataclass(frozen=True)
class Selected:
    """A claim about the last step of training, set against the same text's best checkpoints."""

    last: Callable[[], tuple[bool, str]]
    best: Callable[[], tuple[bool, str]]
    rule: str = "artefact if it holds at the last step and not at the lowest validation loss of the same published runs"
    page: str = "studies/autopsy"
    defect: str = "selection: final"
    kind: Kind = "count"

    def __call__(self, evidence: object) -> Finding:
        """Both, from the published numbers."""
        return explained(decided(*self.best(), FILES), decided(*self.last(), FILES), self.defect)


def size(value: float, rounding: float) -> Between:
    """A count given to the nearest ``rounding``: 430K is 430,000 to the nearest 10,000."""
    return Between(value - rounding / 2, value + rounding / 2)


ONE_METRIC = Conflict(
    Between(0, 2),
    "range of the front page's formula 2|p - q| / |p + q|",
    Between(0, 1),
    "range that the report gives for its metric",
    exact=True,
)
"""Shared by the claims on the range of the prediction difference, of which the study says that it has one."""
