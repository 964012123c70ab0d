"""actlab: what the choice of activation function changes in what a network learns, and in whether it learns the same thing twice."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from actlab.records.tables import load
    from actlab.study.run import run_experiment
    from actlab.study.trained import load_model

__all__ = ["load", "load_model", "run_experiment"]
__version__ = "0.1.0"
HOMES = {"load": "actlab.records.tables", "load_model": "actlab.study.trained", "run_experiment": "actlab.study.run"}
"""Public name -> the module that has it, imported on first use, so that reading records needs no torch."""


def __getattr__(name: str) -> Any:
    """The public names."""
    if name in HOMES:
        return getattr(import_module(HOMES[name]), name)
    raise AttributeError(f"module 'actlab' has no attribute {name!r}")
