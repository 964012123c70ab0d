"""A running study's losses, as they come, in TensorBoard's files or in Weights & Biases (`actlab run --track NAME`)."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from actlab.errors import check_name, needs
from actlab.study.run import Event, Training, Watch

Log = Callable[[str, float, int], None]
"""Takes the name of a curve, a loss and its iteration."""


@contextmanager
def _tensorboard(folder: Path) -> Iterator[Log]:
    """Write TensorBoard's files, in the study's folder."""
    with needs("track", "--track tensorboard"):
        from torch.utils.tensorboard import SummaryWriter
    with SummaryWriter(str(folder / "tensorboard"), flush_secs=1) as writer:
        yield writer.add_scalar


@contextmanager
def _wandb(folder: Path) -> Iterator[Log]:
    """Make a run of Weights & Biases, named after the study."""
    with needs("wandb", "--track wandb"):
        import wandb
    folder.mkdir(parents=True, exist_ok=True)
    with wandb.init(project=os.environ.get("WANDB_PROJECT", "actlab"), name=folder.name, dir=str(folder)) as run:
        run.define_metric("*", step_metric="iteration")
        yield lambda name, loss, iteration: run.log({name: loss, "iteration": iteration})


TRACKERS = {"tensorboard": _tensorboard, "wandb": _wandb}


@contextmanager
def tracked(name: str, folder: Path, also: Watch) -> Iterator[Watch]:
    """Give a watcher that tells a tracker of each trial's training loss as it goes; "" tells none. Every event goes to
    the watcher ``also`` first. Evaluations are in the records.

    Raises:
        UnknownName: no such tracker.
        BadInput: it is not installed.
    """
    if not name:
        yield also
        return
    check_name("tracker", name, TRACKERS, "--track")
    with TRACKERS[name](folder) as log:

        def watch(event: Event) -> None:
            also(event)
            if isinstance(event, Training):
                log(f"{event.arm}/{event.trial}", event.loss, event.iteration)

        yield watch
