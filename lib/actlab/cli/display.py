"""What a terminal shows of a study: its progress while it runs, and how far it is in one sentence."""

import math
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live

from actlab.cli.tracking import Log
from actlab.study.run import Ended, Event, Recorded, Started, Training

if TYPE_CHECKING:
    import pandas as pd


class StudyDisplay(Live):
    """A context in which ``watch`` shows a study's events: on a terminal its progress, with a line for each trial in
    training; everywhere one line an arm, and one for a trial that did not end well. ``log`` takes each loss, too."""

    def __init__(self, console: Console, log: Log) -> None:
        self.log = log
        self.running: dict[tuple[str, str], Training] = {}
        self.planned = self.trained = 0
        self.since = time.monotonic()
        super().__init__(console=console, transient=True, get_renderable=self.lines)

    def lines(self) -> str:
        """The progress, and each trial in training."""
        return "\n  ".join([self.progress(), *map(str, self.running.values())])

    def progress(self) -> str:
        """``5 of 12 trials trained, 2 running, about 3 min left``, by what was trained since the start."""
        done = self.trained + sum(event.iteration / (event.steps or 1) for event in self.running.values())
        rest = ""
        if done:
            seconds = (time.monotonic() - self.since) * (self.planned - done) / done
            rest = f", about {in_time(seconds)} left"
        return f"{self.trained} of {self.planned} trials trained, {len(self.running)} running{rest}"

    def watch(self, event: Event) -> None:
        """Show one event."""
        if isinstance(event, Started):
            self.planned += event.missing
        if isinstance(event, Training):
            self.running[event.arm, event.trial] = event
            self.log(f"{event.arm}/{event.trial}", event.loss, event.iteration)
        if isinstance(event, Ended):
            self.running.pop((event.arm, event.trial), None)
            self.trained += not event.cached
        if isinstance(event, Started | Recorded) or (isinstance(event, Ended) and event.failure):
            self.console.print(str(event))


def in_time(seconds: float) -> str:
    """``90 s``, ``12 min``, ``3.5 h``."""
    if seconds < 7200:
        return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def in_words(table: "pd.DataFrame", workers: int) -> str:
    """The sums of the table in one sentence."""
    from actlab.study.after.status import STATES, seconds_left

    seconds = seconds_left(table, workers)
    rest = f"; about {in_time(seconds)} left with --workers {workers}" if seconds else ""
    if math.isnan(seconds):
        rest = "; how long it takes can be told when a first trial of each kind has ended"
    states = ", ".join(f"{table[state].sum()} {state}" for state in STATES)
    return f"{table['trials'].sum()} trials of {len(table)} arms: {states}; {table['diverged'].sum()} diverged{rest}"
