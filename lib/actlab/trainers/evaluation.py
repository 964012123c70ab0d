"""The loss of a language model on fixed windows, with its standard error. Trains nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from actlab.trainers.loop import EVALUATION_POSITIONS, Placed, logits_of
from actlab.trainers.windows import SKIP, Windows

EVALUATION_NUMBERS = {"cpu": 2**26, "cuda": 2**30}
"""Logits held at once in an evaluation (float32: 256 MiB and 4 GiB). Part of the bits of a result, so fixed."""


@dataclass(frozen=True)
class Measured:
    """The loss on fixed windows: mean cross-entropy a token (nats, lower is better), its standard error, accuracy
    (%)."""

    loss: float
    standard_error: float
    """Of the mean, from the spread between windows. Windows of one book resemble each other, so between books it is
    larger."""
    accuracy: float


def measure(forward: Callable[[Tensor], Tensor], windows: Windows, recipe: Placed, vocab_size: int) -> Measured:
    """Loss, its standard error and accuracy over every counted position of ``windows`` (on the recipe's device)."""
    kind = torch.device(recipe.device).type
    positions = min(EVALUATION_POSITIONS[kind], EVALUATION_NUMBERS[kind] // vocab_size)
    width = windows.inputs.shape[1]
    sums, right = [], torch.zeros((), dtype=torch.int64, device=recipe.device)
    for logits, targets in logits_of(forward, windows, recipe, positions):
        losses = F.cross_entropy(logits, targets, ignore_index=SKIP, reduction="none").double()
        sums.append(losses.view(-1, width).sum(dim=1))
        right += (logits.argmax(dim=1) == targets).sum()
    counts = (windows.targets != SKIP).sum(dim=1)
    per_window = torch.cat(sums)  # (W,)
    mean = (per_window.sum() / counts.sum()).item()
    spread = per_window / counts - mean
    error = math.sqrt((spread.square().mean() / max(1, len(counts) - 1)).item()) if len(counts) > 1 else math.nan
    return Measured(mean, error, 100 * right.item() / windows.positions)
