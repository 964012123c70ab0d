"""Two passes over many tensors that stay in the cache: inner products, and p <- a p + g with theta <- theta + b p. No
optimizer's mathematics."""

from collections.abc import Iterator

import torch
from torch import Tensor

CACHED = 131072
"""Elements of a piece on a CPU: 512 KiB of float32. Two products over one pair of pieces then read the memory about
once."""


def pieces(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Cut matching flat pieces of tensors of one shape: cache-sized on a CPU, whole on a GPU."""
    flat = [tensor.detach().reshape(-1) for tensor in tensors]
    if flat[0].device.type != "cpu" or flat[0].numel() <= CACHED:
        return iter([tuple(flat)])
    return zip(*(torch.split(tensor, CACHED) for tensor in flat), strict=True)


def numbers(tensors: list[Tensor]) -> list[float]:
    """Return many one-element tensors as numbers, in one transfer."""
    return torch.stack(tensors).tolist() if tensors else []


def accumulate_and_move(
    theta: Tensor, gradient: Tensor, momentum: Tensor, weight_decay: float, keep: float, advance: float
) -> None:
    """Set momentum <- ``keep`` momentum + gradient + ``weight_decay`` theta, then theta <- theta + ``advance``
    momentum: one fused pass."""
    if theta.is_contiguous() and gradient.is_contiguous() and gradient.dtype == theta.dtype:
        torch._fused_sgd_(
            [theta],
            [gradient],
            [momentum],
            weight_decay=weight_decay,
            momentum=keep,
            lr=-advance,
            dampening=0.0,
            nesterov=False,
            maximize=False,
            is_first_step=False,
        )
        return
    momentum.mul_(keep).add_(gradient).add_(theta, alpha=weight_decay)
    theta.add_(momentum, alpha=advance)
