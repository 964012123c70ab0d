"""Evaluation of language models on fixed windows: loss, its standard error, accuracy, predictions. Trains nothing."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.nn import functional as F

from actlab.models import LanguageModel
from actlab.trainers.setup import full_float32
from actlab.trainers.windows import SKIP, Windows

EVALUATION_POSITIONS = {"cpu": 4096, "cuda": 131072, "mps": 32768}
"""Positions evaluated at once: what fits the cache of a CPU, what fills a GPU. Part of the bits of a result: fixed."""
EVALUATION_NUMBERS = {"cpu": 2**26, "cuda": 2**30, "mps": 2**28}
"""Logits held at once (float32: 256 MiB and 4 GiB), which bounds the positions of a large vocabulary. Part of the bits
of a result: fixed."""


def logits_of(model: LanguageModel, windows: Windows, dtype: str = "float32") -> Iterator[tuple[Tensor, Tensor]]:
    """Float32 logits (n, V) and targets (n,) of successive batches, in evaluation mode, on the model's device.
    ``dtype``, ``float32`` or ``bfloat16``, is that of the products, whatever the caller casts."""
    device = next(model.parameters()).device
    positions = min(EVALUATION_POSITIONS[device.type], EVALUATION_NUMBERS[device.type] // model.config.vocab_size)
    rows = max(1, positions // windows.inputs.shape[1])
    batches = [torch.split(part.to(device), rows) for part in (windows.inputs, windows.targets)]
    was_training = model.training
    full_float32()
    model.eval()
    with (
        torch.inference_mode(),
        torch.autocast(device.type, torch.bfloat16, enabled=dtype == "bfloat16", cache_enabled=False),
    ):
        for inputs, targets in zip(*batches, strict=True):
            yield model(inputs).flatten(0, 1).float(), targets.flatten()
    model.train(was_training)


def exact(values: Tensor) -> Tensor:
    """In float64; on the CPU where the device has no such numbers (Apple's)."""
    return (values.cpu() if values.device.type == "mps" else values).double()


def losses_of(
    model: LanguageModel, windows: Windows, reduction: str, dtype: str = "float32"
) -> tuple[list[Tensor], float]:
    """The cross-entropies of successive batches in nats, each sum or every position's (``none``), and the share in % of
    positions whose most probable prediction is right."""
    losses, right = list[Tensor](), list[Tensor]()
    for logits, targets in logits_of(model, windows, dtype):
        losses.append(exact(F.cross_entropy(logits, targets, ignore_index=SKIP, reduction=reduction)))
        right.append((logits.argmax(dim=1) == targets).sum())
    return losses, 100 * int(sum(right)) / windows.positions


def evaluate(model: LanguageModel, windows: Windows, dtype: str = "float32") -> dict[str, float]:
    """``val_loss``, the mean cross-entropy in nats, and ``val_accuracy`` in %, over every counted position of
    ``windows``."""
    losses, accuracy = losses_of(model, windows, "sum", dtype)
    return {"val_loss": float(sum(losses)) / windows.positions, "val_accuracy": accuracy}


def measure(model: LanguageModel, windows: Windows, dtype: str = "float32") -> dict[str, float]:
    """The same with a standard error: ``val_loss``, ``val_standard_error``, ``val_accuracy``.

    The standard error is of the mean, from the spread between windows. Windows of one book resemble each other, so
    between books it is larger.
    """
    losses, accuracy = losses_of(model, windows, "none", dtype)
    per_window = torch.cat(losses).view(windows.inputs.shape).sum(dim=1)  # (W,)
    counts = (windows.targets != SKIP).sum(dim=1).to(per_window.device)
    mean = (per_window.sum() / counts.sum()).item()
    spread = per_window / counts - mean
    error = math.sqrt((spread.square().mean() / (len(counts) - 1)).item()) if len(counts) > 1 else math.nan
    return {"val_loss": mean, "val_standard_error": error, "val_accuracy": accuracy}


def predict(model: LanguageModel, windows: Windows) -> Tensor:
    """Probabilities at every position of ``windows``: (W * T, V) float32 on the CPU."""
    return torch.cat([torch.softmax(logits, dim=1).cpu() for logits, _ in logits_of(model, windows)])
