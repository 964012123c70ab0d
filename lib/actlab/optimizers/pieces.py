"""Tensors cut and bundled so that several elementwise passes over them stay in the cache. No optimizer's mathematics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

CACHED = 131072
"""Elements of a bundle on a CPU: 512 KiB of float32 a tensor. Of 2^16, 2^17 and 2^18 the fastest on a machine with 1 MiB of level-2 cache a core."""


@dataclass
class Bundle:
    """Matching pieces (flat views) of parameters, gradients and momenta that one foreach call takes together."""

    group: dict[str, Any]
    params: list[Tensor] = field(default_factory=list)
    gradients: list[Tensor] = field(default_factory=list)
    momenta: list[Tensor] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    """For each piece the number of the tensor that it belongs to."""
    size: int = 0

    def add(self, owner: int, piece: tuple[Tensor, ...]) -> None:
        """Take in one piece: of a parameter, its gradient and its momentum."""
        for tensors, tensor in zip((self.params, self.gradients, self.momenta), piece, strict=True):
            tensors.append(tensor)
        self.owners.append(owner)
        self.size += piece[0].numel()

    def forces(self) -> list[Tensor]:
        """grad F + w Theta."""
        decay = self.group["weight_decay"]
        return list(torch._foreach_add(self.gradients, self.params, alpha=decay)) if decay else self.gradients


def bundles(group: dict[str, Any], momenta: Iterable[Tensor], first_owner: int) -> Iterator[Bundle]:
    """The parameters of ``group`` that have a gradient, with their ``momenta``: in cache-sized bundles on a CPU, in one on a GPU."""
    bundle = Bundle(group)
    with_gradient = (p for p in group["params"] if p.grad is not None)
    for owner, (parameter, momentum) in enumerate(zip(with_gradient, momenta, strict=True), start=first_owner):
        limit = CACHED if parameter.device.type == "cpu" else math.inf
        for piece in _pieces(parameter.detach(), parameter.grad, momentum, limit):
            if bundle.size and bundle.size + piece[0].numel() > limit:
                yield bundle
                bundle = Bundle(group)
            bundle.add(owner, piece)
    if bundle.size:
        yield bundle


def _pieces(parameter: Tensor, gradient: Tensor, momentum: Tensor, limit: float) -> Iterable[tuple[Tensor, ...]]:
    if not parameter.is_contiguous() or parameter.numel() <= limit:
        return [(parameter, gradient, momentum)]
    flat = [torch.split(tensor.reshape(-1), CACHED) for tensor in (parameter, gradient, momentum)]
    return zip(*flat, strict=True)


def dots(left: Iterable[Tensor], right: Iterable[Tensor]) -> list[Tensor]:
    """The inner product of each pair, as tensors, so that one transfer reads them all."""
    return [torch.dot(a.reshape(-1), b.reshape(-1)) for a, b in zip(left, right, strict=True)]


def numbers(tensors: list[Tensor]) -> list[float]:
    """Many one-element tensors as numbers, in one transfer."""
    return torch.stack(tensors).tolist() if tensors else []
