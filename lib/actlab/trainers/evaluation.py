"""Evaluation of language models on fixed windows: loss, its standard error, accuracy, predictions. Trains nothing."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.trainers.setup import full_float32
from actlab.trainers.windows import SKIP, Windows

EVALUATION_POSITIONS = {"cpu": 4096, "cuda": 131072, "mps": 32768}
"""Positions evaluated at once: what fits the cache of a CPU, what fills a GPU. Part of the bits of a result: fixed."""
EVALUATION_NUMBERS = {"cpu": 2**26, "cuda": 2**30, "mps": 2**28}
"""Logits held at once by ``measure`` (float32: 256 MiB and 4 GiB). Part of the bits of a result, so fixed."""


def device_of(model: nn.Module) -> torch.device:
    """Where a model is."""
    return next(model.parameters()).device


def logits_of(model: nn.Module, windows: Windows, positions: int | None = None) -> Iterator[tuple[Tensor, Tensor]]:
    """Float32 logits (n, V) and targets (n,) of successive batches of about ``positions`` positions, in evaluation
    mode, without autocast; on the model's device."""
    device = device_of(model)
    windows = windows.to(device)
    rows = max(1, (positions or EVALUATION_POSITIONS[device.type]) // windows.inputs.shape[1])
    was_training = model.training
    full_float32()
    model.eval()
    with torch.inference_mode():
        for inputs, targets in zip(torch.split(windows.inputs, rows), torch.split(windows.targets, rows), strict=True):
            yield model(inputs).flatten(0, 1), targets.flatten()
    model.train(was_training)


def exact(values: Tensor) -> Tensor:
    """In float64; on the CPU where the device has no such numbers (Apple's)."""
    return (values.cpu() if values.device.type == "mps" else values).double()


def losses_of(
    model: nn.Module, windows: Windows, reduction: str, at_once: int | None = None
) -> tuple[list[Tensor], float]:
    """The cross-entropies of successive batches in nats, each sum or every position's (``none``), and the share in % of
    positions whose most probable prediction is right."""
    losses, right = [], torch.zeros((), dtype=torch.int64, device=device_of(model))
    for logits, targets in logits_of(model, windows, at_once):
        losses.append(exact(F.cross_entropy(logits, targets, ignore_index=SKIP, reduction=reduction)))
        right += (logits.argmax(dim=1) == targets).sum()
    return losses, 100 * right.item() / windows.positions


def evaluate(model: nn.Module, windows: Windows) -> dict[str, float]:
    """``val_loss``, the mean cross-entropy in nats, and ``val_accuracy`` in %, over every counted position of
    ``windows``."""
    losses, accuracy = losses_of(model, windows, "sum")
    return {"val_loss": float(sum(losses)) / windows.positions, "val_accuracy": accuracy}


def measure(model: nn.Module, windows: Windows, vocab_size: int) -> dict[str, float]:
    """The same with a standard error, for large vocabularies: ``val_loss``, ``val_standard_error``, ``val_accuracy``.

    The standard error is of the mean, from the spread between windows. Windows of one book resemble each other, so
    between books it is larger.
    """
    kind = device_of(model).type
    at_once = min(EVALUATION_POSITIONS[kind], EVALUATION_NUMBERS[kind] // vocab_size)
    losses, accuracy = losses_of(model, windows, "none", at_once)
    per_window = torch.cat(losses).view(windows.inputs.shape).sum(dim=1)  # (W,)
    counts = (windows.targets != SKIP).sum(dim=1).to(per_window.device)
    mean = (per_window.sum() / counts.sum()).item()
    spread = per_window / counts - mean
    error = math.sqrt((spread.square().mean() / (len(counts) - 1)).item()) if len(counts) > 1 else math.nan
    return {"val_loss": mean, "val_standard_error": error, "val_accuracy": accuracy}


def predict(model: nn.Module, windows: Windows) -> Tensor:
    """Probabilities at every position of ``windows``: (W * T, V) float32 on the CPU."""
    return torch.cat([torch.softmax(logits, dim=1).cpu() for logits, _ in logits_of(model, windows)])
