"""actlab: what the choice of activation function changes in what a network learns, and in whether it learns the same
thing twice."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from actlab.records.tables import load
    from actlab.study.own_parts import register_activation, register_metric, register_model, register_text
    from actlab.study.plugins import load as load_plugins
    from actlab.study.run import run_experiment
    from actlab.study.trial import load_model

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
HOMES = {
    "load": ("records.tables", "load"),
    "load_model": ("study.trial", "load_model"),
    "load_plugins": ("study.plugins", "load"),
    "run_experiment": ("study.run", "run_experiment"),
}
HOMES |= {
    f"register_{kind}": ("study.own_parts", f"register_{kind}") for kind in ("activation", "metric", "model", "text")
}
"""Public name -> where it is, imported on first use, so that reading records needs no torch."""


def __getattr__(name: str) -> Any:
    """The public names."""
    if name in HOMES:
        module, inner = HOMES[name]
        return getattr(import_module(f"actlab.{module}"), inner)
    raise AttributeError(f"module 'actlab' has no attribute {name!r}")
