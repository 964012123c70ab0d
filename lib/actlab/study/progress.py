"""What a running study tells, and a progress display that listens; trackers are in ``tracking.py``. Decides nothing."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.live import Live

from actlab.records import store
from actlab.records.settings import differing, named
from actlab.study.arm import Arm


@dataclass(frozen=True)
class Started:
    """So many trials are to be trained, beside those in the cache."""

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
    """A trial of an arm has ended, with what it left; or it came from the cache."""

    arm: str
    trial: str
    results: Mapping[str, Any] = field(default_factory=dict)
    cached: bool = False

    @property
    def failure(self) -> str:
        """What to say of a trial that did not end well; empty of any other."""
        if self.results.get("status") != "diverged":
            error = why(self.results)
            return f"failed: {error}" if error else ""
        if not (history := self.results.get("history")):  # networks on images and twins keep none
            return "diverged"
        last = history[-1]
        loss = last["train_loss"] if math.isfinite(last["val_loss"]) else last["val_loss"]
        return f"diverged at step {last['iteration']}, loss {loss}"

    def __str__(self) -> str:
        loss = self.results.get("final", self.results).get("val_loss")
        ended = "ended" if loss is None else f"loss {loss:.4f}"
        took = "from the cache" if self.cached else in_time(seconds_of(self.results))
        said = self.failure or f"{ended}, {took}"
        return f"{self.arm} {self.trial}: {said}"


@dataclass(frozen=True)
class Recorded:
    """An arm has its record."""

    arm: str
    record: store.Record

    def __str__(self) -> str:
        record = self.record
        if any(trial["status"] == "failed" for trial in record.get("trials", ())):
            return f"{self.arm}: failed"
        parts = [f"loss {record['avg_val_loss']:.4f}", f"accuracy {record['avg_val_accuracy']:.2f}%"]
        if not math.isnan(record.get("avg_total_variation", math.nan)):  # a pair needs two trials
            parts.append(f"TV {record['avg_total_variation']:.4f}")
        return f"{self.arm}: {', '.join(parts)}"


Event = Started | Training | Ended | Recorded | str
"""Something that a display may show, each as its text says."""
Watch = Callable[[Event], None]


def unwatched(event: Event) -> None:
    """Nobody listens."""


class StudyDisplay(Live):
    """A context in which ``watch`` shows a study's events: on a terminal how far it is, with a line for each trial in
    training; elsewhere how far it is every minute (``every`` seconds) in which something is heard. Everywhere one line
    an arm, and one for a trial that did not end well."""

    def __init__(self, console: Console, every: float = 60.0) -> None:
        self.every = every
        self.running: dict[tuple[str, str], Training] = {}
        self.planned = self.trained = 0
        self.since = self.told = time.monotonic()
        super().__init__(console=console, transient=True, get_renderable=self.lines)

    def lines(self) -> str:
        """How far it is, and each trial in training."""
        return "\n  ".join([self.how_far(), *map(str, self.running.values())])

    def how_far(self) -> str:
        """``5 of 12 trials trained, 2 running, about 3 min left``: by what was trained since the start."""
        done = self.trained + sum(at.iteration / (at.steps or 1) for at in self.running.values())
        told = f"{self.trained} of {self.planned} trials trained, {len(self.running)} running"
        if not done:
            return told
        left = (time.monotonic() - self.since) * (self.planned - done) / done
        return f"{told}, about {in_time(left)} left"

    def watch(self, event: Event) -> None:
        """Show one event."""
        if isinstance(event, Started):
            self.since = self.since if self.planned else time.monotonic()
            self.planned += event.missing
        if isinstance(event, Ended):
            self.running.pop((event.arm, event.trial), None)
            if not event.cached:
                self.trained += 1
        if isinstance(event, Training):
            self.running[event.arm, event.trial] = event
        elif not isinstance(event, Ended) or event.failure:
            self.console.print(str(event))
        if self.planned and not self.console.is_terminal and time.monotonic() - self.told > self.every:
            self.told = time.monotonic()
            self.console.print(self.how_far())


def names_of(arms: Sequence[Arm]) -> dict[Arm, str]:
    """``charlm-gelu, learning_rate=0.002``: what each arm of a study is called while it runs, by what tells it from the
    others."""
    every = {arm: arm.as_record for arm in arms}
    differ = differing(every.values())
    return {arm: ", ".join(filter(None, [arm.name, named(record, differ)])) for arm, record in every.items()}


def in_time(seconds: float) -> str:
    """``90 s``, ``12 min``, ``3.5 h``."""
    if seconds < 7200:
        return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def seconds_of(trial: Mapping[str, Any]) -> float:
    """What a trial took; a network of the image sweep: its share of the program."""
    spent = trial.get("seconds", 0.0)
    return float(sum(spent.values()) if isinstance(spent, dict) else spent)


def why(results: Mapping[str, Any]) -> str:
    """The error of a trial that failed; empty of any other."""
    return str(results.get("error", ""))
