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

TRIAL, EVALUATION, PAIR, ROW, LABEL = 800, 130, 440, 240, 15
"""Bytes in a record of a trial without its history, an evaluation, a pair at the end, a pair elsewhere, a name in an
ensemble: what recorded arms have, or less."""


def check_sizes(arms: Iterable[Arm]) -> None:
    """``BadInput`` where the record of one of them would be larger than any that is read."""
    for arm in arms:
        if (size := least_bytes(arm)) > LIMITS["record"]:
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


def least_bytes(arm: Arm) -> int:
    """About how many bytes an arm's record has, and rarely fewer."""
    first, asked, count = _first(arm), arm.measures, len(arm.trials)
    changed = [trial for trial in arm.trials if trial.change]
    pairs = comb(count, 2) if arm.kind == "trials" else len(changed)
    evaluations = count * (first.iterations // first.evaluate_every + 1)
    found = count * TRIAL + evaluations * EVALUATION
    if asked.prediction_windows:
        found += pairs * PAIR
    found += len(asked.snapshots) * count * EVALUATION
    elsewhere = len(asked.snapshots) * (pairs + count)
    elsewhere += (len(asked.equal_compute) + len(first.recipe.decays)) * pairs
    for size in asked.ensembles:
        apart = comb(count, size) * comb(count - size, size) // 2
        found += apart * (ROW + 2 * size * LABEL)
    return found + elsewhere * ROW
