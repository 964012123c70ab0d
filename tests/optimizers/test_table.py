"""SGD as the table makes it: its first step in closed form, and its random start."""

import pytest
import torch
from torch import nn

from actlab.optimizers import build_optimizer


def feed(parameter, optimizer, *gradients):
    for gradient in gradients:
        parameter.grad = gradient.clone()
        optimizer.step()
    return parameter.detach()


def test_first_step_of_sgd_with_and_without_a_start():
    gradient, generator = torch.linspace(-2, 1, 1000), torch.Generator().manual_seed(0)
    plain, pushed = (nn.Parameter(torch.zeros(1000)) for _ in range(2))
    assert feed(plain, build_optimizer("sgdm", [plain], generator, init_velocity_std=0.0), gradient).allclose(
        -0.03 * 1.95 * gradient
    )
    optimizer = build_optimizer("sgdm", [pushed], generator)
    start = optimizer.state[pushed]["momentum_buffer"].clone()
    torch.testing.assert_close(feed(pushed, optimizer, gradient), -0.03 * (gradient + 0.95 * (0.95 * start + gradient)))
    assert start.std().item() == pytest.approx(0.1, rel=0.1)
