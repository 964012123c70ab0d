"""Recipes: how a language model's trial is trained, as frozen settings that records carry. Trains nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

DTYPES = ("float32", "bfloat16")
SCHEDULES = ("constant", "cosine")
"""Of training on tokens."""


@dataclass(frozen=True)
class BaseRecipe:
    """Length, evaluations, place and learning-rate schedule of a trial."""

    iterations: int
    evaluate_every: int
    device: str = "cpu"
    dtype: str = "float32"
    """``bfloat16``: autocast in forward and backward; weights, optimizer state, loss and every evaluation stay
    float32."""
    compiled: bool = False
    schedule: str = "constant"

    def rate(self, iteration: int) -> float:
        """Share of the full learning rate at step ``iteration`` (from 0)."""
        return 1.0


@dataclass(frozen=True)
class Recipe(BaseRecipe):
    """On characters: AdamW without warm-up or clipping, as the reference study. Schedules: ``constant``, or ``linear``,
    which falls in equal steps to 0 at the end."""

    batch_size: int = field(kw_only=True)
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    average: float = 0.0
    """Decay of an exponential moving average of the weights, kept beside them; 0: none."""

    def rate(self, iteration: int) -> float:  # noqa: D102
        return 1.0 if self.schedule == "constant" else 1 - iteration / self.iterations


@dataclass(frozen=True)
class TokenRecipe(BaseRecipe):
    """On token shards, with an optimizer that is given. Schedules: ``constant`` or ``cosine``."""

    micro_batches: int = 1
    """Batches of the stream whose gradients make one step."""
    warmup: int = 0
    """Steps over which the rate rises linearly to its full value."""
    final_share: float = 0.1
    """Of the rate, at the end of the cosine."""

    def rate(self, iteration: int) -> float:  # noqa: D102
        if iteration < self.warmup:
            return (iteration + 1) / self.warmup
        if self.schedule == "constant":
            return 1.0
        done = (iteration - self.warmup) / max(1, self.iterations - self.warmup)
        return self.final_share + (1 - self.final_share) * 0.5 * (1 + math.cos(math.pi * done))
