"""What a terminal shows of a study: its progress while it runs, and how far it is in one sentence."""

import math
import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live

from actlab.study.run import Ended, Event, Recorded, Started, Training

if TYPE_CHECKING:
    import pandas as pd


class StudyDisplay(Live):
    """A context in which ``watch`` shows a study's events: on a terminal its progress, with a line for each trial in
    training; elsewhere its progress every ``interval`` seconds. Everywhere one line an arm, and one for a trial that
    did not end well."""

    def __init__(self, console: Console, interval: float = 60.0) -> None:
        self.interval = interval
        self.running: dict[tuple[str, str], Training] = {}
        self.planned = self.trained = 0
        self.since = self.last_line = time.monotonic()
        super().__init__(console=console, transient=True, get_renderable=self.lines)

    def lines(self) -> str:
        """The progress, and each trial in training."""
        return "\n  ".join([self.progress(), *map(str, self.running.values())])

    def progress(self) -> str:
        """``5 of 12 trials trained, 2 running, about 3 min left``, by what was trained since the start."""
        done = self.trained + sum(event.iteration / (event.steps or 1) for event in self.running.values())
        seconds = (time.monotonic() - self.since) * (self.planned - done) / done if done else 0.0
        rest = f", about {in_time(seconds)} left" if done else ""
        return f"{self.trained} of {self.planned} trials trained, {len(self.running)} running{rest}"

    def watch(self, event: Event) -> None:
        """Show one event."""
        if isinstance(event, Started):
            self.planned += event.missing
        if isinstance(event, Training):
            self.running[event.arm, event.trial] = event
        if isinstance(event, Ended):
            self.running.pop((event.arm, event.trial), None)
            self.trained += not event.cached
        if isinstance(event, Started | Recorded) or (isinstance(event, Ended) and event.failure):
            self.console.print(str(event))
        if self.planned and not self.console.is_terminal and time.monotonic() - self.last_line > self.interval:
            self.last_line = time.monotonic()
            self.console.print(self.progress())


def in_time(seconds: float) -> str:
    """``90 s``, ``12 min``, ``3.5 h``."""
    if seconds < 7200:
        return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def in_words(table: "pd.DataFrame", workers: int) -> str:
    """The sums of the table in one sentence."""
    from actlab.study.after.status import STATES, seconds_left

    seconds, diverged = seconds_left(table, workers), table["diverged"].sum()
    states = ", ".join(f"{table[state].sum()} {state}" for state in STATES)
    rest = f"; about {in_time(seconds)} left on {workers} {'workers' if workers > 1 else 'worker'}" if seconds else ""
    if math.isnan(seconds):
        rest = "; how long it takes can be told when a first trial of each kind has ended"
    lost = f"; {diverged} diverged" if diverged else ""
    return f"{table['trials'].sum()} trials of {len(table)} arms: {states}{lost}{rest}"
