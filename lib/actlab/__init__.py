"""actlab: what the choice of activation function changes in what a network learns, and in whether it learns the same thing twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from actlab.study.run import run_experiment

__all__ = ["run_experiment"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """``actlab.run_experiment`` on first use, so that reading records needs no torch."""
    if name == "run_experiment":
        from actlab.study.run import run_experiment

        return run_experiment
    raise AttributeError(f"module 'actlab' has no attribute {name!r}")
