"""What is refused before any training: a device that is not here, parts that workers cannot see, torchrun on other
studies than an ablation."""

from __future__ import annotations

import os

import torch

from actlab.errors import BadInput
from actlab.study.identity import WAY_OUT
from actlab.study.params import StudyParams
from actlab.study.parts import of_session


def check(params: StudyParams, workers: int = 1, scheduler: str = "", together: bool = False) -> None:
    """``BadInput`` with one sentence where a study cannot be trained as asked.

    Args:
        params: of any kind of study.
        workers: processes that train; 1 is this one.
        scheduler: address of a cluster whose workers train instead.
        together: whether torchrun's processes train one trial together.
    """
    if not together:
        check_alone()
    if not scheduler:
        check_device(str(getattr(params, "device", "cpu")))
    if workers > 1 or scheduler:
        check_session(params, "the workers of the scheduler" if scheduler else f"{workers} worker processes")


def check_alone() -> None:
    """Under torchrun, every process would train every trial."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    if processes > 1:
        raise BadInput(
            f"torchrun started {processes} processes, which can share a trial of an ablation only: "
            f"train this study without torchrun, with --workers {processes}"
        )


def check_device(device: str) -> None:
    """A GPU must be here."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    index = int(device.partition(":")[2] or 0)
    if device.startswith("cuda") and index >= count:
        raise BadInput(
            f"device={device}: PyTorch {torch.__version__} finds {count or 'no'} GPU here; use device=cpu, or a machine that has it"
        )


def check_session(params: StudyParams, who: str) -> None:
    """Parts of this session exist in this process only."""
    for kind, names in params.names.items():
        for name in of_session(kind, names):
            raise BadInput(
                f"the {kind} {name!r} is known to this session only, which {who} cannot see: {WAY_OUT}, or use workers=1"
            )
