"""Arms compared with a reference: paired differences adjusted by Holm, and the same at equal validation loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actlab.records.repro import ArmResults
from actlab.statistics.equal_loss import EqualLoss, equal_loss
from actlab.statistics.estimate import Estimate
from actlab.statistics.tests import holm

REFERENCE = "relu"
ALPHA = 0.05
MARGIN = 0.005
"""Total variation: a smaller difference does not matter (the plan of the confirmatory study)."""


def against(
    pairs: Sequence[tuple[ArmResults, ArmResults]], metric: str, planned: int = 0
) -> list[tuple[Estimate, float]]:
    """First arm minus second, paired by seed, and its p-value adjusted by Holm over all of these pairs, in their
    order.

    ``planned``: how many comparisons the family has where its plan says so; those without a record count as p = 1.
    """
    found = [arm.minus(other, metric) for arm, other in pairs]
    return list(zip(found, map(float, holm([estimate.p_value() for estimate in found], planned)), strict=True))


def at_equal_loss(
    arms: Mapping[str, ArmResults], metric: str = "total_variation", earlier: float = 0.0
) -> EqualLoss | None:
    """Arms of one model at the validation loss that all of them reach; None where relu or every other arm has no
    snapshots.

    Args:
        arms: activation -> arm, of the same seeds; one without snapshots is left out.
        metric: of pairs.
        earlier: share of the way up to the first loss (``statistics.equal_loss``).
    """
    known = {name: arm.curves(metric)[1] for name, arm in arms.items() if arm.record.get("trajectory")}
    return equal_loss(known, REFERENCE, earlier) if REFERENCE in known and len(known) > 1 else None
