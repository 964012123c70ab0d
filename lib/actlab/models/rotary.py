"""Rotary positions: queries and keys turned by angles that grow with their position. Adds no parameters."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class RotaryPositions(nn.Module):
    """Rotates the first ``rotated`` features of each head by angles that grow with the position; feature i pairs with i
    + rotated / 2.

    Su et al. 2021, arXiv 2104.09864 (base 10,000). The product of a query and a key then depends on their distance
    only.
    """

    cosine: Tensor
    sine: Tensor

    def __init__(self, rotated: int, block_size: int) -> None:
        super().__init__()
        self.rotated = rotated
        frequencies = 10_000.0 ** (-torch.arange(0, rotated, 2, dtype=torch.float64) / rotated)
        angles = torch.arange(block_size, dtype=torch.float64)[:, None] * frequencies  # (T, rotated / 2)
        self.register_buffer("cosine", angles.cos().float(), persistent=False)
        self.register_buffer("sine", angles.sin().float(), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, nh, T, hs) -> the same."""
        time = x.shape[-2]
        cosine, sine = self.cosine[:time].to(x.dtype), self.sine[:time].to(x.dtype)
        first, second, rest = torch.split(x, [self.rotated // 2, self.rotated // 2, x.shape[-1] - self.rotated], dim=-1)
        return torch.cat((first * cosine - second * sine, first * sine + second * cosine, rest), dim=-1)
