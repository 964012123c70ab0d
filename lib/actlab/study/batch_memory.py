"""What a batch needs of memory, from forward passes of one and of two sequences: one that does not fit here is refused
before anything is trained."""

import math
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
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

NO_SIZE = {
    *("seed", "change", "varies", "fixed", "defects", "also", "train_fraction"),
    *("activation", "symmetry", "qkv_bias", "evaluation", "validation", "validation_windows", "evaluate_every"),
    *("optimizer", "learning_rate", "rate_factor", "weight_decay", "betas", "soap_max_dim", "clip", "average"),
    *("iterations", "schedule", "warmup", "micro_batches", "batch_size"),
}
"""Settings that change what a sequence needs hardly or not at all: of trials that share all others one is tried, that
of the largest batch."""
LARGE = 50_000_000
"""Weights of a network from which it is tried without its numbers: those of 124M take 9 s and 1.5 GB, and may not fit
beside a GPU that they fit on."""


def check_batches(arms: Iterable[Arm]) -> None:
    """``BadInput`` where the batch of one of them needs more memory than its device has."""
    largest: dict[str, LanguageTrial] = {}
    for trial in (arm.trials[0] for arm in arms):
        if isinstance(trial, LanguageTrial):
            size = repr({name: value for name, value in trial.model_dump().items() if name not in NO_SIZE})
            if size not in largest or trial.batch_size > largest[size].batch_size:
                largest[size] = trial
    for trial in largest.values():
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
    """What a step keeps of each sequence of its batch, or less (half of it in bfloat16, and half where it is compiled);
    0 where its model does not work, which its training will tell."""
    with suppress(ActlabError), guarded(trial.name), _numbers_of(trial):
        model = trial.fresh().eval()
        one, two = (_kept(model, torch.zeros(count, model.config.block_size, dtype=torch.int64)) for count in (1, 2))
        found = float(two - one)
        if trial.dtype == "bfloat16":
            found /= 2
        if trial.compiled:
            found /= 2
        return found
    return 0.0


def _numbers_of(trial: LanguageTrial) -> AbstractContextManager[object]:
    """Where a large network is made and run, its tensors have their sizes and no numbers."""
    size = trial.settings.get("model_size")
    if size is None or 12 * size["n_layer"] * size["n_embd"] ** 2 < LARGE:
        return nullcontext()
    from torch._subclasses.fake_tensor import FakeTensorMode  # its first use takes a second

    return FakeTensorMode(allow_non_fake_inputs=True)


def _kept(model: nn.Module, tokens: Tensor) -> int:
    """Bytes that a forward pass keeps for the backward one, each once, weights among them."""
    held: dict[int, Any] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        held[storage._cdata] = storage
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    return sum(storage.nbytes() for storage in held.values())
