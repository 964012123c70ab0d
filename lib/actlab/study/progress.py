"""The events of a running study, and a progress display that listens to them. Decides nothing."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.live import Live

from actlab.records import store


@dataclass(frozen=True)
class Started:
    """So many trials are missing, beside those in the cache."""

    missing: int
    cached: int = 0

    def __str__(self) -> str:
        return f"{self.missing} trials to train, {self.cached} cached"


@dataclass(frozen=True)
class Training:
    """A trial of an arm, by their names, has done some of its steps."""

    arm: str
    trial: str
    steps: int
    iteration: int
    loss: float

    def __str__(self) -> str:
        return f"{self.arm} {self.trial}: {self.iteration}/{self.steps}, loss {self.loss:.3f}"


@dataclass(frozen=True)
class Ended:
    """A trial of an arm has ended, with its results; or it came from the cache."""

    arm: str
    trial: str
    results: Mapping[str, Any] = field(default_factory=dict)
    cached: bool = False

    @property
    def failure(self) -> str:
        """What to say of a trial that did not end well; empty of any other."""
        if self.results.get("status") == "failed":
            return f"failed: {self.results['error']}"
        if self.results.get("status") != "diverged":
            return ""
        history = self.results.get("history")  # networks on images keep none, twins an empty one
        return f"diverged by step {history[-1]['iteration']}" if history else "diverged"

    def __str__(self) -> str:
        return f"{self.arm} {self.trial}: {self.failure or 'ended'}"


@dataclass(frozen=True)
class Recorded:
    """An arm has its record."""

    arm: str
    record: store.Record

    def __str__(self) -> str:
        record = self.record
        if any(trial["status"] == "failed" for trial in record.get("trials", ())):
            return f"{self.arm}: failed"
        variation = record.get("avg_total_variation", math.nan)  # a pair needs two trials
        pairs = "" if math.isnan(variation) else f", TV {variation:.4f}"
        return f"{self.arm}: loss {record['avg_val_loss']:.4f}, accuracy {record['avg_val_accuracy']:.2f}%{pairs}"


Event = Started | Training | Ended | Recorded
"""What a display shows, each as its text says."""
Watch = Callable[[Event], None]


def unwatched(event: Event) -> None:
    """Nobody listens."""


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
