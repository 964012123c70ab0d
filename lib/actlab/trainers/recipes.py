"""Recipes: how a language model's trial is trained, as frozen settings that records carry. Trains nothing."""

import math
from dataclasses import dataclass, field
from typing import Any

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
    clip: float = 0.0
    """Largest L2 norm of the gradient of all weights; 0: not limited."""

    def rate(self, iteration: int) -> float:
        """Share of the full learning rate at step ``iteration`` (from 0)."""
        return 1.0


@dataclass(frozen=True)
class Recipe(BaseRecipe):
    """On characters; unless said otherwise AdamW without warm-up or clipping, as the reference study. Schedules:
    ``constant``, or ``linear``, which falls in equal steps to 0 at the end; ``cooldown``, constant, then so over the
    last half; ``cosine``, a linear warm-up over the first 2%, then half a cosine to a tenth."""

    batch_size: int = field(kw_only=True)
    learning_rate: float = 3e-4
    weight_decay: float = 0.01
    optimizer: str = "adamw"
    """Name; of twins ``adamw``, ``adamw-eps`` or ``sgd`` (``trainers.twins``)."""
    warmup: int = 0
    """Steps over which the rate rises linearly to its full value, before any schedule but ``cosine``."""
    average: float | tuple[float, ...] = 0.0
    """Decay of an exponential moving average of the weights, kept beside them, or several; 0: none."""

    @property
    def decays(self) -> tuple[float, ...]:
        """Of the moving averages that are kept."""
        return self.average if isinstance(self.average, tuple) else (self.average,) if self.average else ()

    def single(self, of_decays: dict[str, Any]) -> Any:
        """What a result keeps of its moving averages: by their decays, or the only one's alone."""
        return of_decays if isinstance(self.average, tuple) else of_decays[str(self.average)]

    def rate(self, iteration: int) -> float:  # noqa: D102
        left = 1 - iteration / self.iterations
        if self.schedule == "cosine":
            return _cosine(iteration, self.iterations, math.ceil(self.iterations / 50), 0.1)
        rising = min(1.0, (iteration + 1) / self.warmup) if self.warmup else 1.0
        return rising * {"constant": 1.0, "linear": left, "cooldown": min(1.0, 2 * left)}[self.schedule]


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
        final_share = 1.0 if self.schedule == "constant" else self.final_share
        return _cosine(iteration, self.iterations, self.warmup, final_share)


def _cosine(iteration: int, iterations: int, warmup: int, final_share: float) -> float:
    if iteration < warmup:
        return (iteration + 1) / warmup
    done = (iteration - warmup) / max(1, iterations - warmup)
    return final_share + (1 - final_share) * 0.5 * (1 + math.cos(math.pi * done))
