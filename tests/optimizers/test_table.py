"""SGD as the table makes it: its first step in closed form, from a random start."""

import pytest
import torch
from torch import nn

from actlab.optimizers import build_optimizer


def test_first_step_of_sgd_from_its_start():
    parameter, gradient = nn.Parameter(torch.zeros(1000)), torch.linspace(-2, 1, 1000)
    optimizer = build_optimizer("sgdm", [parameter], torch.Generator().manual_seed(0))
    start = optimizer.state[parameter]["momentum_buffer"].clone()
    parameter.grad = gradient.clone()
    optimizer.step()
    torch.testing.assert_close(parameter.detach(), -0.03 * (gradient + 0.95 * (0.95 * start + gradient)))
    assert start.std().item() == pytest.approx(0.1, rel=0.1)
