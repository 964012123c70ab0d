"""What a batch needs of memory, from forward passes of one and of two sequences: one that does not fit here is refused
before anything is trained."""

import math
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from rich.filesize import decimal
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.errors import ActlabError, BadInput
from actlab.plugins.guard import guarded
from actlab.study.language_trial import LanguageTrial
from actlab.study.trial import Arm

NO_SIZE = ("seed", "change", "learning_rate", "rate_factor", "weight_decay", "activation", "symmetry", "optimizer")
"""Settings that change what a batch needs hardly or not at all: of trials that share all others one is tried."""


def check_batches(arms: Iterable[Arm]) -> None:
    """``BadInput`` where the batch of one of them needs more memory than its device has."""
    of_sizes: dict[str, LanguageTrial] = {}
    for trial in (arm.trials[0] for arm in arms):
        if isinstance(trial, LanguageTrial):
            size = {name: value for name, value in trial.model_dump().items() if name not in NO_SIZE}
            of_sizes.setdefault(repr(size), trial)
    for trial in of_sizes.values():
        each, room = bytes_of_a_sequence(trial), memory_of(trial.device)
        if (needed := each * trial.batch_size) > room:
            here = "this machine" if trial.device == "cpu" else trial.device
            raise BadInput(
                f"batch_size={trial.batch_size}: a step of {trial.name} keeps about {decimal(int(needed))} in memory, "
                f"and {here} has {decimal(int(room))}: {int(room / each)} fit at most, fewer with several workers"
            )


def memory_of(device: str) -> float:
    """Bytes of this machine, or of its GPU; infinite where the system does not tell."""
    if device.startswith("cuda"):
        return float(torch.cuda.get_device_properties(device).total_memory)
    found = math.inf
    with suppress(AttributeError, ValueError, OSError):  # not on Windows
        found = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ValueError, OSError):  # of a container
        found = min(found, float(Path("/sys/fs/cgroup/memory.max").read_text()))
    return found


def bytes_of_a_sequence(trial: LanguageTrial) -> float:
    """What a step keeps of each sequence of its batch, or less (half of it in bfloat16, or compiled); 0 where its model
    does not work, which its training will tell."""
    with suppress(ActlabError), guarded(trial.name):
        model = trial.fresh().eval()
        one, two = (_kept(model, torch.zeros(count, model.config.block_size, dtype=torch.int64)) for count in (1, 2))
        return (two - one) * (0.5 if trial.compiled or trial.dtype == "bfloat16" else 1.0)
    return 0.0


def _kept(model: nn.Module, tokens: Tensor) -> int:
    """Bytes that a forward pass keeps for the backward one, each once, weights among them."""
    held: dict[int, Any] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        held[storage.data_ptr()] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    return sum(storage.nbytes() for storage in held.values())
