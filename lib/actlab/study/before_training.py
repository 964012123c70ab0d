"""What is checked and made before the first trial of a study of characters is trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from actlab.plugins.contracts import check_causal
from actlab.study import baselines
from actlab.study.characters import BFLOAT16, CharacterTrial
from actlab.study.trial import Arm, Trial
from actlab.trainers import setup

if TYPE_CHECKING:
    from actlab.study.character_study import CharacterStudy


def prepared(study: CharacterStudy, missing: Sequence[Arm[Trial]]) -> str:
    """Refuse a user's own part that sees the future, and refuse, or announce, what bfloat16 means on this processor;
    measure the text's own tables. Returns a note for the display, if any."""
    first = [trial for arm in missing if isinstance(trial := arm.trials[0], CharacterTrial)]
    check_causal((trial.model, trial.activation) for trial in first)
    slow = {trial.model: trial for trial in first if (trial.dtype, trial.device) == (BFLOAT16, "cpu")}
    note = setup.check_bfloat16(trial.fresh() for trial in slow.values()) if slow else ""
    baselines.ensure(study, bool(missing))
    return note
