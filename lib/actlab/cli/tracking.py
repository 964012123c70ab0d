"""A running study's losses, as they come, in TensorBoard's files or in Weights & Biases (`actlab run --track NAME`)."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from actlab.errors import check_name, needs
from actlab.records.store import Record
from actlab.study.run import Event, Recorded, Training, Watch


class TensorBoard:
    """One folder of files, with a curve for each loss of each trial."""

    def __init__(self, folder: Path) -> None:
        with needs("track", "--track tensorboard"):
            from torch.utils.tensorboard import SummaryWriter
        self.writer = SummaryWriter(str(folder / "tensorboard"), flush_secs=1)

    def add(self, arm: str, trial: str, iteration: int, losses: Mapping[str, float]) -> None:
        """Take the losses of a trial at an iteration."""
        for name, loss in losses.items():
            self.writer.add_scalar(f"{arm}/{trial}/{name}", loss, iteration)

    def end(self, arm: str, record: Record) -> None:
        """Take note that an arm is recorded."""
        self.writer.flush()

    def close(self) -> None:
        """Take note that the run has ended."""
        self.writer.close()


class WandB:
    """One W&B run for each trial, a group for each study."""

    def __init__(self, folder: Path) -> None:
        with needs("wandb", "--track wandb"):
            import wandb
        folder.mkdir(parents=True, exist_ok=True)
        self.begin = wandb.init
        self.about = {"project": os.environ.get("WANDB_PROJECT", "actlab"), "group": folder.name, "dir": str(folder)}
        self.runs: dict[tuple[str, str], Any] = {}

    def add(self, arm: str, trial: str, iteration: int, losses: Mapping[str, float]) -> None:  # noqa: D102
        if (arm, trial) not in self.runs:  # trials train side by side
            self.runs[arm, trial] = self.begin(name=f"{arm} {trial}", reinit="create_new", **self.about)
            self.runs[arm, trial].define_metric("*", step_metric="iteration")
        self.runs[arm, trial].log({"iteration": iteration, **losses})

    def end(self, arm: str, record: Record) -> None:  # noqa: D102
        for key in [key for key in self.runs if key[0] == arm]:
            run = self.runs.pop(key)
            run.config.update(record["config"])
            run.finish()

    def close(self) -> None:  # noqa: D102
        for run in self.runs.values():  # of arms that were not recorded
            run.finish(exit_code=1)


TRACKERS: dict[str, type[TensorBoard] | type[WandB]] = {"tensorboard": TensorBoard, "wandb": WandB}


@contextmanager
def tracked(name: str, folder: Path, also: Watch) -> Iterator[Watch]:
    """A watcher that tells a tracker of each trial's training loss as it goes, and of every evaluation when its arm is
    recorded; "" tells none. Every event goes to the watcher ``also`` first.

    Raises:
        UnknownName: no such tracker.
        BadInput: it is not installed.
    """
    if not name:
        yield also
        return
    check_name("tracker", name, TRACKERS, "--track")
    tracker, trained = TRACKERS[name](folder), set[str]()

    def watch(event: Event) -> None:
        also(event)
        if isinstance(event, Training):
            trained.add(event.arm)
            tracker.add(event.arm, event.trial, event.iteration, {"train_loss": event.loss})
        if isinstance(event, Recorded) and event.arm in trained:  # others are known from the run that trained them
            for trial in event.record["trials"]:
                for entry in trial.get("history", ()):
                    losses = {f"evaluated_{loss}": entry[loss] for loss in ("train_loss", "val_loss")}
                    tracker.add(event.arm, trial["label"], entry["iteration"], losses)
            tracker.end(event.arm, event.record)

    try:
        yield watch
    finally:
        tracker.close()
