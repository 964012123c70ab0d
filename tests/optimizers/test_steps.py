"""A step without ``torch._dynamo``: the bits of the optimizer's own step, and the library stays out of the process."""

import subprocess
import sys

import pytest
import torch
from torch import nn

from actlab.optimizers import build_optimizer
from actlab.optimizers.steps import step

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


def trained(name, take):
    torch.manual_seed(0)
    net, x = nn.Linear(5, 3), torch.randn(7, 5)
    optimizer = build_optimizer(name, net.parameters(), generator=torch.Generator().manual_seed(0))

    def loss():
        optimizer.zero_grad()
        value = net(x).square().mean()
        value.backward()
        return value

    for _ in range(3):
        take(optimizer, loss)
    return torch.cat([p.detach().flatten() for p in net.parameters()])


@pytest.mark.parametrize("name", ["adamw", "sgdm", "ecd", "soap"])
def test_the_same_bits(name):
    assert torch.equal(trained(name, step), trained(name, lambda optimizer, loss: optimizer.step(loss)))


def test_training_loads_no_compiler():
    """Nor anything else that a worker does not need: each costs up to 2 s at the start."""
    found = subprocess.run([sys.executable, "-c", TRAINED], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"
