"""Numbers that the reference studies printed (the YAML file beside this one), and the parameters that our models of
their sizes have."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from actlab.files import read_yaml

numbers = SimpleNamespace(**read_yaml(Path(__file__).with_suffix(".yaml")))
