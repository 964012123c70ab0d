"""A running study's losses, as they come, in TensorBoard's files or in Weights & Biases (`actlab run --track NAME`)."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from actlab.errors import check_name, needs

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


def tracker(name: str, folder: Path) -> AbstractContextManager[Log]:
    """Open a tracker for the losses of a study; "" takes them and does nothing.

    Raises:
        UnknownName: no such tracker.
        BadInput: it is not installed.
    """
    if not name:
        return nullcontext(lambda *loss: None)
    check_name("tracker", name, TRACKERS, "--track")
    return TRACKERS[name](folder)
