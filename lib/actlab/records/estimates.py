"""Arms compared with a reference: paired differences, adjusted by Holm."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from actlab.records.repro import ArmResults
from actlab.statistics.estimate import Estimate
from actlab.statistics.significance import Test, holm

REFERENCE = "relu"
ALPHA = 0.05
Key = TypeVar("Key", bound=Hashable)


def adjusted(found: Mapping[Key, Estimate], planned: int = 0) -> dict[Key, Test]:
    """Each difference of a family with its p-value, adjusted by Holm over all of them.

    ``planned``: how many comparisons the family has where its plan says so; those without a record count as p = 1.
    """
    p_values = holm([estimate.p_value() for estimate in found.values()], planned)
    return {key: (estimate, float(p)) for (key, estimate), p in zip(found.items(), p_values, strict=True)}


def against(pairs: Sequence[tuple[ArmResults, ArmResults]], metric: str, planned: int = 0) -> list[Test]:
    """First arm minus second, paired by seed, and its adjusted p-value (``adjusted``), in the order of the pairs."""
    found = {place: arm.minus(other, metric) for place, (arm, other) in enumerate(pairs)}
    return list(adjusted(found, planned).values())
