"""Distributed training (``torchrun``): who does what in one trial; each process holds the model, a share of a batch."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from actlab.errors import BadInput

T = TypeVar("T")


@dataclass(frozen=True)
class Group:
    """The processes that train one trial together; one process is a group of its own and needs no communication."""

    rank: int = 0
    world: int = 1

    @property
    def leads(self) -> bool:
        """Whether this process writes files and reports."""
        return self.rank == 0

    def check(self, batch_size: int) -> None:
        """``BadInput`` where the sequences of a batch cannot be shared equally by the processes."""
        if batch_size % self.world:
            raise BadInput(f"a batch of {batch_size} sequences cannot be shared equally by {self.world} processes")

    def mean(self, value: Tensor) -> Tensor:
        """The mean of a tensor over the processes, on each of them."""
        if self.world > 1:
            distributed.all_reduce(value)
            value /= self.world
        return value

    def agree(self, make: Callable[[], T]) -> T:
        """What the leader makes, on every process: a plain value. The others wait for it."""
        if self.world == 1:
            return make()
        box: list[Any] = [make() if self.leads else None]
        distributed.broadcast_object_list(box)
        return box[0]

    def wrapped(self, model: nn.Module) -> nn.Module:
        """The model whose backward pass averages gradients over the processes."""
        return model if self.world == 1 else DistributedDataParallel(model, broadcast_buffers=False)


ALONE = Group()


def group() -> Group:
    """The group that ``torchrun`` started this process in, joined at the first call: NCCL with GPUs, one each, else
    gloo."""
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world == 1:
        return ALONE
    if not distributed.is_initialized():
        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))  # from here on "cuda" is this process's own
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return Group(distributed.get_rank(), world)


def without_exchange(model: object) -> AbstractContextManager[Any]:
    """Gradients stay with the process: for all micro-batches of a step but the last."""
    return model.no_sync() if isinstance(model, DistributedDataParallel) else nullcontext()
