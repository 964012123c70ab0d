"""What a running study tells, and who listens: a progress display, and TensorBoard's files (`actlab run --track
tensorboard`). Decides nothing."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from actlab.errors import BadInput, check_name
from actlab.records import store


@dataclass(frozen=True)
class Event:
    """Something that a display may show."""

    kind: Literal["start", "arm", "progress", "trial", "note"]
    arm: Any
    """Of any kind of study: it has an ``id``."""
    trial: Any = None
    """With ``progress`` and ``trial``: it has a ``label``."""
    iteration: int = 0
    loss: float = math.nan
    record: store.Record | None = None
    """With ``arm``: its record."""
    total: int = 0
    """With ``start``: how many trials are to be trained or taken from the cache."""
    cached: int = 0
    """With ``start``: how many of them are in the cache; with ``trial``: 1 where it came from there."""
    result: Mapping[str, Any] | None = None
    """With ``trial``: what it left."""
    note: str = ""
    """With ``note``: a line to print."""


Watch = Callable[[Event], None]


class StudyDisplay:
    """A context in which ``watch`` shows a study's events: on a terminal one line for the whole and one for each trial
    in training; elsewhere a line every minute (``every`` seconds) in which something is heard. Everywhere one line an
    arm, and one for a trial that did not end well."""

    def __init__(self, console: Console, every: float = 60.0) -> None:
        self.console, self.every = console, every
        columns = (
            "{task.description}",
            BarColumn(bar_width=24),
            "{task.completed}/{task.total}",
            "{task.fields[note]}",
        )
        times = (TimeElapsedColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, *times, console=console, transient=True, disable=not console.is_terminal)
        self.whole = self.progress.add_task("trials", total=None, note="", visible=False)
        self.running: dict[tuple[str, str], TaskID] = {}
        self.total = self.cached = self.trained = 0
        self.since = self.told = time.monotonic()

    def __enter__(self) -> "StudyDisplay":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def how_far(self) -> str:
        """``5 of 12 trials trained, 2 running, about 3 min left``: by what was trained since the start."""
        planned, running = self.total - self.cached, [task for task in self.progress.tasks if task.id != self.whole]
        done = self.trained + sum(task.completed / (task.total or 1) for task in running)
        left = (time.monotonic() - self.since) * (planned - done) / done if done else math.nan
        word = "" if math.isnan(left) else f", about {in_time(left)} left"
        return f"{self.trained} of {planned} trials trained, {len(running)} running{word}"

    def watch(self, event: Event) -> None:
        """Show one event."""
        key = event.arm.id, getattr(event.trial, "label", "")
        name = f"{event.arm.id.rpartition('-')[0]} {key[1]}"  # without the hash
        if event.kind == "start":
            self.since = self.since if self.total else time.monotonic()
            self.total, self.cached = self.total + event.total, self.cached + event.cached
            self.progress.update(self.whole, total=self.total, visible=True)
            self.console.print(f"{event.total - event.cached} trials to train, {event.cached} cached")
        elif event.kind == "progress":
            steps = event.trial.length
            if key not in self.running:
                self.running[key] = self.progress.add_task(f"  {name}", total=steps, note="")
            self.progress.update(self.running[key], completed=event.iteration, note=f"loss {event.loss:.3f}")
        elif event.kind == "trial":
            if (task := self.running.pop(key, None)) is not None:
                self.progress.remove_task(task)
            self.trained += 1 - event.cached
            self.progress.advance(self.whole)
            if ended := _unfinished(event.result or {}):
                self.console.print(f"{name}: {ended}")
        elif event.kind == "note":
            self.console.print(event.note)
        elif event.record is not None:
            self.console.print(f"{event.arm.id}: {_summary(event.record)}")
        if self.total and not self.console.is_terminal and time.monotonic() - self.told > self.every:
            self.told = time.monotonic()
            self.console.print(self.how_far())


def in_time(seconds: float) -> str:
    """``90 s``, ``12 min``, ``3.5 h``."""
    if seconds < 7200:
        return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def why(result: Mapping[str, Any]) -> str:
    """The error of a trial that failed; empty of any other."""
    return str(result.get("traceback", "")).strip().rpartition("\n")[2]


def _unfinished(result: Mapping[str, Any]) -> str:
    """What to say of a trial that did not end well."""
    if result.get("status") != "diverged":
        return f"failed: {failed}" if (failed := why(result)) else ""
    last = result["history"][-1]
    loss = last["train_loss"] if math.isfinite(last["val_loss"]) else last["val_loss"]
    return f"diverged at step {last['iteration']}, loss {loss}"


def _summary(record: store.Record) -> str:
    if any(trial["status"] == "failed" for trial in record.get("trials", ())):
        return "failed"
    parts = [f"loss {record['avg_val_loss']:.4f}", f"accuracy {record['avg_val_accuracy']:.2f}%"]
    if not math.isnan(record.get("avg_total_variation", math.nan)):  # a pair needs two trials
        parts.append(f"TV {record['avg_total_variation']:.4f}")
    return ", ".join(parts)


@contextmanager
def tracked(name: str, folder: Path, also: Watch) -> Iterator[Watch]:
    """A watcher that writes into ``folder``: each trial's training loss as it goes, every evaluation when its arm is
    recorded; "" writes nothing. Every event goes to the watcher ``also`` first.

    Raises:
        UnknownName: no such tracker.
        BadInput: it is not installed.
    """
    if not name:
        yield also
        return
    check_name("tracker", name, ["tensorboard"], "--track")
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise BadInput(
            "--track tensorboard needs the extra: python -m pip install -c constraints.txt -e '.[track]'"
        ) from None
    with SummaryWriter(str(folder)) as writer:

        def watch(event: Event) -> None:
            also(event)
            if event.kind == "progress":
                writer.add_scalar(f"{event.arm.id}/{event.trial.label}/train_loss", event.loss, event.iteration)
            for trial in event.record["trials"] if event.record else ():
                for entry in trial.get("history", ()):
                    for value in ("train_loss", "val_loss"):
                        place = f"{event.arm.id}/{trial['label']}/evaluated_{value}"
                        writer.add_scalar(place, entry[value], entry["iteration"])
            writer.flush()

        yield watch
