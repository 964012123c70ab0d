"""actlab: what the choice of activation function changes in what a network learns, and in whether it learns the same
thing twice."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from actlab.checks import holds
    from actlab.plugins import (
        load_plugins,
        register_activation,
        register_metric,
        register_model,
        register_optimizer,
        register_text,
    )
    from actlab.records.tables import load, load_baselines, load_curves, load_losses, load_pairs
    from actlab.statistics.averaging_and_ensembles import beside_training
    from actlab.statistics.contrasts import bound, contrasts, jackknife, means, without_each
    from actlab.statistics.equal_loss import at_equal_loss, at_loss, equal_loss
    from actlab.statistics.share import share
    from actlab.study.after.load_model import load_model
    from actlab.study.run import run_experiment

__all__ = [
    "at_equal_loss",
    "at_loss",
    "beside_training",
    "bound",
    "contrasts",
    "equal_loss",
    "holds",
    "jackknife",
    "load",
    "load_baselines",
    "load_curves",
    "load_losses",
    "load_model",
    "load_pairs",
    "load_plugins",
    "means",
    "register_activation",
    "register_metric",
    "register_model",
    "register_optimizer",
    "register_text",
    "run_experiment",
    "share",
    "without_each",
]
__version__ = "0.2.0"
HOMES = (
    "records.tables",
    "statistics.contrasts",
    "statistics.equal_loss",
    "statistics.averaging_and_ensembles",
    "statistics.share",
    "checks",
    "plugins",
    "study.run",
    "study.after.load_model",
)
"""Where the public names are, imported one after another until one has the name: records need no torch."""


def __getattr__(name: str) -> Any:
    """The public names."""
    for home in HOMES if name in __all__ else ():
        if hasattr(module := import_module(f"actlab.{home}"), name):
            return getattr(module, name)
    raise AttributeError(f"module 'actlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    """For completion."""
    return [*__all__, "__version__"]
