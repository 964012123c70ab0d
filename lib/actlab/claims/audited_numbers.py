"""Numbers that the reference studies printed (the YAML file beside this one), and the parameters that our models of
their sizes have."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from actlab.files import read_yaml

numbers = SimpleNamespace(**read_yaml(Path(__file__).with_suffix(".yaml")))


def parameters(model: str, scale: str) -> int:
    """Trainable parameters of our model at ``lite``, ``partial`` or ``full`` scale; known without torch."""
    return int(numbers.our_parameters[model][scale])
