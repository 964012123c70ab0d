"""AdamW and SGD as the table makes them: first steps in closed form, and the random start of sgdm."""

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
    gradient, generator = torch.tensor([1.0, -2.0]), torch.Generator().manual_seed(0)
    plain = nn.Parameter(torch.zeros(2))
    assert feed(plain, build_optimizer("sgdm", [plain], generator, init_velocity_std=0.0), gradient).allclose(
        -0.03 * 1.95 * gradient
    )
    pushed = nn.Parameter(torch.zeros(2))
    optimizer = build_optimizer("sgdm", [pushed], generator)
    start = optimizer.state[pushed]["momentum_buffer"].clone()
    torch.testing.assert_close(feed(pushed, optimizer, gradient), -0.03 * (gradient + 0.95 * (0.95 * start + gradient)))


def test_the_start_of_sgdm_displaces_by_a_closed_form():
    """-lr mu^2 / (1 - mu) v_0 = -0.5415 v_0 where all gradients are zero."""
    parameter = nn.Parameter(torch.zeros(1000, dtype=torch.float64))
    optimizer = build_optimizer("sgdm", [parameter], torch.Generator().manual_seed(0))
    start = optimizer.state[parameter]["momentum_buffer"].clone()
    feed(parameter, optimizer, *[torch.zeros(1000, dtype=torch.float64)] * 800)
    torch.testing.assert_close(parameter.detach(), -0.5415 * start)
    assert start.std().item() == pytest.approx(0.1, rel=0.1)
