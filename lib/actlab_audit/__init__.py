"""The claims of the reference studies and what our records say of them: every verdict is computed, none is typed in."""

from pathlib import Path
from types import SimpleNamespace

from actlab.files import read_yaml

numbers = SimpleNamespace(**read_yaml(Path(__file__).with_name("audited_numbers.yaml")))
"""What the reference studies printed, and the parameters that our models of their sizes have."""
