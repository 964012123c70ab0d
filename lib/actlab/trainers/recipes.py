"""Recipes: how a language model's trial is trained, as frozen settings. Trains nothing."""

import math
from dataclasses import dataclass
from typing import Any

DTYPES = ("float32", "bfloat16")
LEAST = 0.1
"""Share of the rate at the end of ``cosine``."""


@dataclass(frozen=True)
class Recipe:
    """Length, evaluations, batches, place and learning-rate schedule of a trial.

    Schedules: ``constant``; ``linear``, which falls in equal steps to 0 at the end; ``cooldown``, constant, then so
    over the last half; ``cosine``, half a cosine to a tenth.
    """

    iterations: int
    evaluate_every: int
    batch_size: int = 16
    micro_batches: int = 1
    """Batches whose gradients make one step."""
    device: str = "cpu"
    dtype: str = "float32"
    """``bfloat16``: autocast in forward and backward, and on a CPU in evaluations before the last; weights, optimizer
    state, losses and the last evaluation stay float32."""
    compiled: bool = False
    schedule: str = "constant"
    warmup: int = 0
    """Steps over which the rate rises linearly to its full value."""
    clip: float = 0.0
    """Largest L2 norm of the gradient of all weights; 0: not limited."""
    average: float | tuple[float, ...] = 0.0
    """Decay of an exponential moving average of the weights, kept beside them, or several; 0: none."""

    @property
    def decays(self) -> tuple[float, ...]:
        """Of the moving averages that are kept."""
        return self.average if isinstance(self.average, tuple) else (self.average,) if self.average else ()

    def single(self, of_decays: dict[str, Any]) -> Any:
        """What a result keeps of its moving averages: by their decays, or the only one's alone."""
        return of_decays if isinstance(self.average, tuple) else of_decays[str(self.average)]

    def evaluated_in(self, iteration: int) -> str:
        """Type of the products of an evaluation. bfloat16 moves the losses of a curve by less than 1e-4 nats, and takes
        half of the time on a CPU; a GPU's evaluations are short."""
        return self.dtype if iteration < self.iterations and self.device == "cpu" else "float32"

    def rate(self, iteration: int) -> float:
        """Share of the full learning rate at step ``iteration`` (from 0)."""
        rising = min(1.0, (iteration + 1) / self.warmup) if self.warmup else 1.0
        if self.schedule == "cosine":
            done = max(0, iteration - self.warmup) / max(1, self.iterations - self.warmup)
            return rising * (LEAST + (1 - LEAST) * 0.5 * (1 + math.cos(math.pi * done)))
        left = 1 - iteration / self.iterations
        return rising * {"constant": 1.0, "linear": left, "cooldown": min(1.0, 2 * left)}[self.schedule]
