"""What is checked and made before the first trial of a study of characters is trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from actlab import metrics
from actlab.errors import BadInput
from actlab.plugins.contracts import check_causal
from actlab.study import baselines
from actlab.study.characters import BFLOAT16, CharacterTrial
from actlab.study.record_size import check_sizes
from actlab.study.trial import Arm
from actlab.trainers import setup
from actlab.trainers.evaluation import predict

if TYPE_CHECKING:
    from actlab.study.character_study import CharacterStudy


def prepared(study: CharacterStudy, missing: Sequence[Arm]) -> str:
    """Refuse what no record holds, a user's own part that sees the future, or a metric that fails on real predictions;
    refuse, or announce, what bfloat16 means on this processor; measure the text's own tables. Returns a note for the
    display, if any."""
    first = [trial for arm in missing if isinstance(trial := arm.trials[0], CharacterTrial)]
    check_sizes(missing)
    for arm in missing[:1]:
        _try_metrics(arm)
    check_causal((trial.model, trial.activation) for trial in first)
    slow = {trial.model: trial for trial in first if (trial.dtype, trial.device) == (BFLOAT16, "cpu")}
    note = setup.check_bfloat16(trial.fresh() for trial in slow.values()) if slow else ""
    baselines.ensure(study, bool(missing))
    return note


def _try_metrics(arm: Arm) -> None:
    """``BadInput`` where a user's own metric fails on the predictions of two networks that are not trained yet, on the
    windows on which the arm's trials are compared."""
    trial, names = arm.trials[0], list(dict(arm.measures.metrics))
    if not (names and isinstance(trial, CharacterTrial)):
        return
    frozen = trial.compared_on(arm.measures.prediction_windows).to(trial.device)
    nets = [each.fresh().to(trial.device) for each in (trial, trial.with_change(trial.seed + 1))]
    first, second = (predict(net, frozen) for net in nets)
    for name in names:
        try:
            metrics.row_means(first, second, [name])
        except BadInput as error:
            raise BadInput(f"on predictions of {trial.model} {error}") from error
