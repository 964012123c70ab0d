"""What trains a language model's network: a name and settings become an optimizer."""

from typing import Any

from torch import nn
from torch.optim import Optimizer

from actlab.optimizers import build_optimizer
from actlab.plugins import Parts, find_part
from actlab.trainers.seeds import generator

OF_CHARACTERS: dict[str, dict[str, Any]] = {"ecd": {"F0": 0.0}}
"""Settings that depend on the losses that can be reached: the published F0 = 2 nats lies above those of characters."""


def optimizer_of(name: str, parts: Parts, model: nn.Module, seed: int, settings: dict[str, Any]) -> Optimizer:
    """Over all weights of a model that is on its device.

    Args:
        name: of the optimizer.
        parts: of its trial; one of the user's own must be the one that was planned.
        model: what it trains.
        seed: of its own random stream.
        settings: what departs from its usual ones; none of them: its own.
    """
    find_part("optimizer", name, dict(parts).get("optimizer", ""))
    given = {key: value for key, value in settings.items() if value is not None}
    return build_optimizer(name, model.parameters(), generator(seed, "optimizer"), **given)
