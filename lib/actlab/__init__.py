"""actlab: what the choice of activation function changes in what a network learns, and in whether it learns the same
thing twice."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from actlab.records.tables import load
    from actlab.study.plugins import (
        load_plugins,
        register_activation,
        register_metric,
        register_model,
        register_text,
    )
    from actlab.study.run import run_experiment
    from actlab.study.weights import load_model

__all__ = [
    "load",
    "load_model",
    "load_plugins",
    "register_activation",
    "register_metric",
    "register_model",
    "register_text",
    "run_experiment",
]
__version__ = "0.1.0"
HOMES = {"load": "records.tables", "load_model": "study.weights", "run_experiment": "study.run"}
"""Public name -> where it is, if not in ``study.plugins``; imported on first use: reading records needs no torch."""


def __getattr__(name: str) -> Any:
    """The public names."""
    if name in __all__:
        return getattr(import_module(f"actlab.{HOMES.get(name, 'study.plugins')}"), name)
    raise AttributeError(f"module 'actlab' has no attribute {name!r}")
