"""A running study's losses, as they come, in TensorBoard's files or in Weights & Biases (`actlab run --track NAME`)."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from actlab.errors import check_name, needs
from actlab.study.run import Event, Recorded, Training, Watch

Log = Callable[[str, float, int], None]
"""Takes the name of a curve, a loss and its iteration."""


@contextmanager
def _tensorboard(folder: Path) -> Iterator[Log]:
    """TensorBoard's files, in the study's folder."""
    with needs("track", "--track tensorboard"):
        from torch.utils.tensorboard import SummaryWriter
    with SummaryWriter(str(folder / "tensorboard"), flush_secs=1) as writer:
        yield writer.add_scalar


@contextmanager
def _wandb(folder: Path) -> Iterator[Log]:
    """A run of Weights & Biases, named after the study."""
    with needs("wandb", "--track wandb"):
        import wandb
    folder.mkdir(parents=True, exist_ok=True)
    with wandb.init(project=os.environ.get("WANDB_PROJECT", "actlab"), name=folder.name, dir=str(folder)) as run:
        run.define_metric("*", step_metric="iteration")
        yield lambda name, loss, iteration: run.log({name: loss, "iteration": iteration})


TRACKERS = {"tensorboard": _tensorboard, "wandb": _wandb}


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
    trained = set[str]()
    with TRACKERS[name](folder) as log:

        def watch(event: Event) -> None:
            also(event)
            if isinstance(event, Training):
                trained.add(event.arm)
                log(f"{event.arm}/{event.trial}/train_loss", event.loss, event.iteration)
            if isinstance(event, Recorded) and event.arm in trained:  # others are known from the run that trained them
                for trial in event.record["trials"]:
                    for entry in trial.get("history", ()):
                        for loss in ("train_loss", "val_loss"):
                            curve = f"{event.arm}/{trial['label']}/evaluated_{loss}"
                            log(curve, entry[loss], entry["iteration"])

        yield watch
