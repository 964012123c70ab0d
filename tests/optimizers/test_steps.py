"""A step without ``torch._dynamo``: the library stays out of the process (the bits are a contract's)."""

import sys

import pytest
from tiny import ran

TRAINED = """
import sys, torch
from actlab.data.text import corpus_of
from actlab.models import SCALES, build_model
from actlab.optimizers import build_optimizer
from actlab.trainers.evaluation import evaluate
from actlab.trainers.loop import Training, train
from actlab.trainers.recipes import Recipe
from actlab.trainers.windows import RandomWindows, spread
text = corpus_of("abc", "abc " * 300)
recipe, block = Recipe(2, 1, batch_size=2), SCALES["quick"].block_size
windows, batch = spread(text.validation, block, 1), RandomWindows(text.train, block, recipe, 0).batch
net = build_model("charlm", SCALES["quick"], "gelu")
optimizer = build_optimizer("adamw", net.parameters(), None)
train(Training(net, optimizer, batch, lambda net, _: evaluate(net, windows), recipe, 0))
slow = ("torch._dynamo", "torch._inductor", "pandas", "scipy", "sklearn", "matplotlib")
print([name for name in slow if name in sys.modules])
"""


@pytest.mark.slow
def test_training_loads_no_compiler():
    """Nor anything else that a worker does not need: each costs up to 2 s at the start."""
    found = ran([sys.executable, "-c", TRAINED]).stdout
    assert found.strip() == "[]"
