"""What is checked and made before the first trial of a study of characters is trained."""

from collections.abc import Sequence

from actlab.plugins.contracts import check_causal
from actlab.study import baselines
from actlab.study.character_study import CharacterStudy
from actlab.study.character_trial import BFLOAT16, CharacterTrial
from actlab.study.characters import network
from actlab.study.trial import Arm
from actlab.trainers import setup


def prepared(study: CharacterStudy, missing: Sequence[Arm[CharacterTrial]]) -> str:
    """Refuse a user's own part that sees the future, and refuse, or announce, what bfloat16 means on this processor;
    measure the text's own tables. Returns a note for the display, if any."""
    first = [arm.trials[0] for arm in missing]
    check_causal((trial.model, trial.activation) for trial in first)
    trials = {trial.model: trial for trial in first}.values()
    slow = [trial for trial in trials if (trial.dtype, trial.device) == (BFLOAT16, "cpu")]
    note = setup.check_bfloat16(map(network, slow)) if slow else ""
    baselines.ensure(study, bool(missing))
    return note
