"""What a running study tells, and who listens: a progress display, and TensorBoard's files (`actlab run --track
tensorboard`). Decides nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from actlab.errors import BadInput, UnknownName
from actlab.records import store

TRACKERS = ("tensorboard",)


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
    note: str = ""
    """With ``note``: a line to print."""


Watch = Callable[[Event], None]


class StudyDisplay:
    """One line for the whole, one for each trial in training; its ``watch`` takes a study's events, within the context
    ``progress``. Without a terminal it prints how many trials there are, and one line an arm."""

    def __init__(self, console: Console) -> None:
        self.console = console
        columns = ("{task.description}", BarColumn(bar_width=24), MofNCompleteColumn(), "{task.fields[note]}")
        times = (TimeElapsedColumn(), TimeRemainingColumn())
        self.progress = Progress(*columns, *times, console=console, transient=True, disable=not console.is_terminal)
        self.whole = self.progress.add_task("trials", total=None, note="", visible=False)
        self.running: dict[tuple[str, str], TaskID] = {}

    def watch(self, event: Event) -> None:
        """Show one event."""
        key = event.arm.id, getattr(event.trial, "label", "")
        if event.kind == "start":
            self.progress.update(self.whole, total=event.total, visible=True)
            if not self.console.is_terminal:
                self.console.print(f"{event.total} trials to train")
        elif event.kind == "progress":
            if key not in self.running:
                name = f"  {event.arm.id.rpartition('-')[0]} {key[1]}"  # without the hash
                self.running[key] = self.progress.add_task(name, total=event.trial.recipe.iterations, note="")
            self.progress.update(self.running[key], completed=event.iteration, note=f"loss {event.loss:.3f}")
        elif event.kind == "trial":
            if (task := self.running.pop(key, None)) is not None:
                self.progress.remove_task(task)
            self.progress.advance(self.whole)
        elif event.kind == "note":
            self.console.print(event.note)
        elif event.record is not None:
            self.console.print(f"{event.arm.id}: {_summary(event.record)}")


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
    if name not in TRACKERS:
        raise UnknownName("tracker", name, TRACKERS, "--track")
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
