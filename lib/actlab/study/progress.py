"""What a running study shows: one line for the whole, one for each trial in training."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from actlab.study.events import Event


class StudyDisplay:
    """A context whose ``watch`` takes the engine's events. Without a terminal it prints how many trials there are, and
    one line an arm."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.whole: TaskID | None = None
        self.running: dict[tuple[str, str], TaskID] = {}

    def __enter__(self) -> StudyDisplay:
        self.progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.progress.stop()

    def watch(self, event: Event) -> None:
        """Show one event."""
        if event.kind == "start":
            self.whole = self.progress.add_task("trials", total=event.total, note="")
            if not self.console.is_terminal:
                self.console.print(f"{event.total} trials to train")
        elif event.kind == "progress" and event.trial is not None:
            self._iteration(event)
        elif event.kind == "trial" and event.trial is not None:
            if (task := self.running.pop((event.arm.id, event.trial.label), None)) is not None:
                self.progress.remove_task(task)
            if self.whole is not None:
                self.progress.advance(self.whole)
        elif event.kind == "note":
            self.console.print(event.note)
        elif event.kind == "arm" and event.record is not None:
            self.console.print(f"{event.arm.id}: {_summary(event.record)}")

    def _iteration(self, event: Event) -> None:
        assert event.trial is not None
        key = (event.arm.id, event.trial.label)
        if key not in self.running:
            name = f"  {event.arm.id.rpartition('-')[0]} {event.trial.label}"  # without the hash
            self.running[key] = self.progress.add_task(name, total=event.trial.recipe.iterations, note="")
        self.progress.update(self.running[key], completed=event.iteration, note=f"loss {event.loss:.3f}")


def _summary(record: dict[str, object]) -> str:
    parts = [f"loss {record['avg_val_loss']:.4f}", f"accuracy {record['avg_val_accuracy']:.2f}%"]
    if "avg_total_variation" in record:
        parts.append(f"TV {record['avg_total_variation']:.4f}")
    return ", ".join(parts)
