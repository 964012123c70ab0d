"""What a trial of a language model takes, by a few steps that are timed here and now."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from actlab.study.trial import LanguageTrial, Measures, Outcome, Task
from actlab.trainers import setup

SECONDS, MOST, WINDOWS, SLOW = 0.3, 64, 16, 3.0
"""What is timed: about so long, at most so many steps, so many windows in an evaluation; seconds of a step that is not
timed whole."""
L = TypeVar("L", bound=LanguageTrial)
Train = Callable[[Task[L], Path | None, Any], list[Outcome]]


def pace(trial: L, train: Train[L]) -> tuple[float, float]:
    """Seconds of a step, and of a window's evaluation, of a trial that is cut short; the first of three prepares, and
    the second says how many steps fill the time. A step of many seconds is timed with one sequence in place of the
    batch."""
    setup.prepare()
    alone: dict[str, Any] = {"batch_size": 1} if trial.batch_size > 1 else {}
    for _ in range(2):
        step, window = _timed(trial, train, 1, 1, alone)
    if trial.batch_size * step > SLOW:
        return trial.batch_size * step, window
    steps = 1
    for _ in range(3):
        step, window = _timed(trial, train, steps, WINDOWS, {})
        steps = max(1, min(MOST, int(SECONDS / step)))
    return step, window


def _timed(trial: L, train: Train[L], steps: int, windows: int, smaller: dict[str, Any]) -> tuple[float, float]:
    cut: dict[str, Any] = {"iterations": steps, "evaluate_every": steps, "validation_windows": windows, "change": ""}
    if "also" in type(trial).model_fields:
        cut["also"] = ()
    task = Task((trial.model_copy(update=cut | smaller),), Measures(prediction_windows=windows))
    ((done, _),) = train(task, None, None)
    evaluated = windows * (len(done["history"]) + 1)
    return done["seconds"]["training"] / steps, done["seconds"]["evaluation"] / evaluated
