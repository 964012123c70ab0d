"""A family of differences, adjusted by Holm: the reference, the level, the adjustment."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import Test, holm

REFERENCE = "relu"
ALPHA = 0.05
Cells = Mapping[tuple[str, str], Test]
"""(model, activation) -> its difference from the reference, and its adjusted p-value."""
Key = TypeVar("Key", bound=Hashable)


def adjusted(found: Mapping[Key, Estimate], planned: int = 0) -> dict[Key, Test]:
    """Each difference of a family with its p-value, adjusted by Holm over all of them.

    ``planned``: how many comparisons the family has where its plan says so; those without a record count as p = 1.
    """
    p_values = holm([estimate.p_value() for estimate in found.values()], planned)
    return {key: (estimate, p) for (key, estimate), p in zip(found.items(), p_values.tolist(), strict=True)}


def signs(found: Mapping[Key, Test]) -> tuple[int, int]:
    """How many differences are significantly above 0, and how many below."""
    kept = [estimate.value > 0 for estimate, p in found.values() if p < ALPHA]
    return kept.count(True), kept.count(False)
