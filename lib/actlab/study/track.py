"""Loss curves for live watching (`actlab run --track tensorboard`): the study's events into TensorBoard's files. An
extra; decides nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from actlab.errors import BadInput, UnknownName
from actlab.study.events import Event, Watch

TRACKERS = ("tensorboard",)


@contextmanager
def tracked(name: str, folder: Path, also: Watch) -> Iterator[Watch]:
    """A watcher that writes into ``folder``: each trial's training loss as it goes, every evaluation when its arm is
    recorded; "" writes nothing.

    Every event goes to the watcher ``also`` first.

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
            if event.kind == "progress" and event.trial is not None:
                writer.add_scalar(f"{event.arm.id}/{event.trial.label}/train_loss", event.loss, event.iteration)
            for trial in event.record["trials"] if event.kind == "arm" and event.record else ():
                for entry in trial.get("history", ()):
                    for value in ("train_loss", "val_loss"):
                        writer.add_scalar(
                            f"{event.arm.id}/{trial['label']}/evaluated_{value}", entry[value], entry["iteration"]
                        )
            writer.flush()

        yield watch
