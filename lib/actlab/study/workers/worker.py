"""What every process does before it works on a task, and while it does."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from actlab.errors import ActlabError, BadInput
from actlab.study import provenance
from actlab.study.plugins.identity import PluginFile
from actlab.study.plugins.load import execute

Report = Callable[[int, float], None]
"""Called by a task with (iteration, loss)."""

REPORTS_EVERY = 0.2
"""Seconds between the reports of one task that travel to the client."""
WORDS = {"trial_code_sha256": "code", "machine": "machine"}
GIVEN_UP = (
    "task {} of {} ended its worker again and again (out of memory?): what had ended is kept; start again, with fewer "
    "workers or smaller batches"
)


class EngineError(ActlabError):
    """Workers or scheduler that cannot be reached any more; what had ended is kept."""


def work(
    function: Callable[[Any, Report], Any],
    task: Any,
    place: int,
    send: Callable[[tuple[int, int, float]], None],
    who: str,
    there: Mapping[str, Any],
    own: Sequence[PluginFile],
) -> Any:
    """The function of a task, whose reports are sent every ``REPORTS_EVERY`` seconds, with the task's place in front.
    A user's own parts are loaded before.

    Raises:
        BadInput: this worker has other code or another machine than the client, which is ``there``.
    """
    for what, mine in provenance.here().items():
        if mine != there[what]:
            raise BadInput(
                f"the worker {who} has another {WORDS[what]} than the process that started the study "
                f"({mine} against {there[what]}): "
                "results would not be comparable bit for bit; start the study on a machine of the workers' kind, "
                "from the same checkout"
            )
    for file in own:
        execute(file)
    last = 0.0

    def report(iteration: int, loss: float) -> None:
        nonlocal last
        if time.monotonic() - last >= REPORTS_EVERY:
            last = time.monotonic()
            send((place, iteration, loss))

    return function(task, report)
