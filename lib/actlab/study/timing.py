"""What a trial of a language model takes, by a few steps that are timed here and now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from actlab.study.trial import Settings, Task
from actlab.trainers import setup

if TYPE_CHECKING:
    from actlab.study.language_trial import LanguageTrial

SECONDS, MOST, WINDOWS, SLOW = 0.3, 64, 16, 3.0
"""What is timed: about so long, at most so many steps, so many windows in an evaluation; seconds of a step that is not
timed whole."""


def seconds(trial: LanguageTrial, task: Task) -> float:
    """What a task takes: the steps and evaluations of its first trial, as many times as it has trials."""
    step, window = pace(trial)
    last, also = trial.iterations, getattr(trial, "also", ())
    evaluations = len({*range(0, last, trial.evaluate_every), last, *also})
    return len(task.trials) * (step * last + window * evaluations * len(trial.validation_set().inputs))


def pace(trial: LanguageTrial) -> tuple[float, float]:
    """Seconds of a step, and of a window's evaluation, of a trial that is cut short; the first of three prepares, and
    the second says how many steps fill the time. A step of many seconds is timed with one sequence in place of the
    batch."""
    setup.prepare()
    alone = trial.model_copy(update={"batch_size": 1})
    for _ in range(2):
        step, window = _timed(alone, 1, 1)
    if trial.batch_size * step > SLOW:
        return trial.batch_size * step, window
    steps = 1
    for _ in range(3):
        step, window = _timed(trial, steps, WINDOWS)
        steps = max(1, min(MOST, int(SECONDS / step)))
    return step, window


def _timed(trial: LanguageTrial, steps: int, windows: int) -> tuple[float, float]:
    cut: Settings = {"iterations": steps, "evaluate_every": steps, "validation_windows": windows, "change": ""}
    if "also" in type(trial).model_fields:
        cut["also"] = ()
    short = trial.model_copy(update=cut)
    ((done, _),) = short.train(Task((short,)), None, None)
    return done["seconds"]["training"] / steps, done["seconds"]["evaluation"] / windows / len(done["history"])
