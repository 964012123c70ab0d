"""A step without ``torch._dynamo``: the library stays out of the process (the bits are a contract's)."""

import sys

from tiny import ran

TRAINED = """
import sys, torch
from actlab.data.text import corpus_of
from actlab.models import SCALES, build_model
from actlab.trainers.loop import train
from actlab.trainers.recipes import Recipe
from actlab.trainers.windows import spread
text = corpus_of("abc", "abc " * 300)
windows = spread(text.validation, SCALES["quick"].block_size, 1)
train(build_model("charlm", SCALES["quick"], "gelu"), text.train, windows, windows, Recipe(2, 1, batch_size=2), 0)
slow = ("torch._dynamo", "torch._inductor", "pandas", "scipy", "sklearn", "matplotlib")
print([name for name in slow if name in sys.modules])
"""


def test_training_loads_no_compiler():
    """Nor anything else that a worker does not need: each costs up to 2 s at the start."""
    found = ran([sys.executable, "-c", TRAINED]).stdout
    assert found.strip() == "[]"
