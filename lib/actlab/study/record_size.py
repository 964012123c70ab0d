"""How large an arm's record will be, and what it will say, from its plan: one that no reader would take is refused
before anything is trained."""

from collections.abc import Iterable
from math import comb
from typing import cast

from actlab.errors import LIMITS, BadInput
from actlab.records import store
from actlab.records.schema import check_content
from actlab.study.language_trial import LanguageTrial
from actlab.study.trial import Arm

ROW = 130
"""Bytes of an evaluation in a record; of other rows more."""


def check_sizes(arms: Iterable[Arm]) -> None:
    """``BadInput`` where the record of one of them would be larger than any that is read."""
    for arm in arms:
        if (size := ROW * least_rows(arm)) > LIMITS["record"]:
            raise BadInput(
                f"{arm.id}: the record of its {len(arm.trials)} trials would have {size:,} bytes or more, and a record "
                f"has {LIMITS['record']:,} at most: plan fewer trials, evaluations, snapshots or ensembles"
            )


def check_texts(arms: Iterable[Arm]) -> None:
    """``RecordError`` where what the record of one of them will say of its settings and data no reader would take: the
    path of its text, say. Arms of one text have the same data."""
    of_texts = {(_first(arm).dataset, getattr(_first(arm), "shards", "")): arm for arm in arms}
    for arm in of_texts.values():
        told = {"arm": arm.id, "config": dict(arm.config), "provenance": {"data": _first(arm).data(), **arm.decided}}
        check_content(told, store.canonical(told))


def _first(arm: Arm) -> LanguageTrial:
    return cast("LanguageTrial", arm.trials[0])


def least_rows(arm: Arm) -> int:
    """How many evaluations and pairs an arm's record has, or a few more."""
    first, asked, count = _first(arm), arm.measures, len(arm.trials)
    evaluations = count * (first.iterations // first.evaluate_every + 2 * len(asked.snapshots))
    pairs = comb(count, 2) if arm.kind == "trials" else count
    moments = 1 + len(asked.snapshots) + len(asked.equal_compute) + len(first.recipe.decays)
    ensembles = sum(comb(count, size) * comb(count - size, size) // 2 for size in asked.ensembles)
    return evaluations + pairs * moments + ensembles
