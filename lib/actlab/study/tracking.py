"""A running study's losses, as they come, in TensorBoard's files or in Weights & Biases (`actlab run --track NAME`).
Decides nothing."""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from actlab.errors import BadInput, check_name, needs
from actlab.records.store import Record
from actlab.study.progress import Event, Recorded, Started, Training, Watch


class Tracker(Protocol):
    """What takes the losses of a study whose folder below `out/` it is made with."""

    again: bool
    """Whether it is given the arms, too, that were recorded before this run."""

    def add(self, arm: str, trial: str, iteration: int, losses: Mapping[str, float]) -> None:
        """Take the losses of a trial at an iteration, which may lie before earlier ones."""

    def end(self, arm: str, record: Record) -> None:
        """Take note that an arm is recorded: nothing more comes of it."""

    def close(self) -> None:
        """Take note that the run has ended."""


class TensorBoard:
    """One folder of files, with a curve for each loss of each trial."""

    again = True

    def __init__(self, folder: Path) -> None:
        with needs("track", "--track tensorboard"):
            from torch.utils.tensorboard import SummaryWriter
        self.writer = SummaryWriter(str(folder / "tensorboard"), flush_secs=1)

    def add(self, arm: str, trial: str, iteration: int, losses: Mapping[str, float]) -> None:  # noqa: D102
        for name, loss in losses.items():
            self.writer.add_scalar(f"{arm}/{trial}/{name}", loss, iteration)

    def end(self, arm: str, record: Record) -> None:  # noqa: D102
        self.writer.flush()

    def close(self) -> None:  # noqa: D102
        self.writer.close()


class WandB:
    """One W&B run for each trial, a group for each study; where it cannot be reached, files for `wandb sync`."""

    again = False  # it has them from the run that recorded them, and would have each twice

    def __init__(self, folder: Path) -> None:
        with needs("wandb", "--track wandb"):
            import wandb
        self.wandb = wandb
        try:
            if wandb.setup().settings.mode == "online" and not wandb.login(prompt=False):
                raise BadInput(f"--track wandb is not logged in: type `wandb login`, or {LATER}")
        except wandb.Error as error:
            raise BadInput(f"--track wandb: {error} Try `wandb login`, or {LATER}") from None
        folder.mkdir(parents=True, exist_ok=True)
        self.asked = {
            "project": os.environ.get("WANDB_PROJECT", "actlab"),
            "group": folder.name,
            "dir": str(folder.resolve()),
            "reinit": "create_new",  # trials train side by side
            "settings": wandb.Settings(console="off", silent=True),
        }
        self.runs: dict[tuple[str, str], Any] = {}

    def add(self, arm: str, trial: str, iteration: int, losses: Mapping[str, float]) -> None:  # noqa: D102
        if (arm, trial) not in self.runs:
            self.runs[arm, trial] = run = self.begun(f"{arm} {trial}")
            run.define_metric("*", step_metric="iteration")
        self.runs[arm, trial].log({"iteration": iteration, **losses})

    def begun(self, name: str) -> Any:
        """A new run, also where W&B does not answer any more: training goes on."""
        try:
            return self.wandb.init(name=name, **self.asked)
        except self.wandb.Error as error:
            self.asked["mode"] = "offline"
            logging.getLogger("actlab").warning(
                "W&B: %s; from now on into %s/wandb, for `wandb sync`", str(error).partition("\n")[0], self.asked["dir"]
            )
            return self.wandb.init(name=name, **self.asked)

    def end(self, arm: str, record: Record) -> None:  # noqa: D102
        for key in [key for key in self.runs if key[0] == arm]:
            run = self.runs.pop(key)
            run.config.update(record["config"])
            run.finish()

    def close(self) -> None:  # noqa: D102
        for run in self.runs.values():  # of arms that were not recorded
            run.finish(exit_code=1)


LATER = "set WANDB_MODE=offline and send its files later by `wandb sync`"

TRACKERS: dict[str, type[TensorBoard] | type[WandB]] = {"tensorboard": TensorBoard, "wandb": WandB}


@contextmanager
def tracked(name: str, folder: Path, also: Watch) -> Iterator[Watch]:
    """A watcher that tells a tracker of each trial's training loss as it goes, and of every evaluation when its arm is
    recorded; "" tells none. Every event goes to the watcher ``also`` first.

    Raises:
        UnknownName: no such tracker.
        BadInput: it cannot be used here.
    """
    if not name:
        yield also
        return
    check_name("tracker", name, TRACKERS, "--track")
    tracker: Tracker = TRACKERS[name](folder)
    begun = tracker.again

    def watch(event: Event) -> None:
        nonlocal begun
        also(event)
        if isinstance(event, Started):
            begun = True
        if isinstance(event, Training):
            tracker.add(event.arm, event.trial, event.iteration, {"train_loss": event.loss})
        if isinstance(event, Recorded) and begun:
            for trial in event.record["trials"]:
                for entry in trial.get("history", ()):
                    losses = {f"evaluated_{loss}": entry[loss] for loss in ("train_loss", "val_loss")}
                    tracker.add(event.arm, trial["label"], entry["iteration"], losses)
            tracker.end(event.arm, event.record)

    try:
        yield watch
    finally:
        tracker.close()
