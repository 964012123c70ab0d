"""SOAP against a slow, literal reference, and every invariant of its equations."""

import math

import pytest
import torch
from tiny import normal
from torch import nn

from actlab.optimizers import SOAP


def gradients(*shape):
    """Sixty, of another scale in each element."""
    return (normal(*shape).abs() + 0.2) * normal(60, *shape, seed=1)


def feed(weight, grads, **settings):
    """The weight after one call for each gradient, and the optimizer."""
    parameter = nn.Parameter(weight.clone())
    optimizer = SOAP([parameter], **settings)
    for gradient in grads:
        parameter.grad = gradient.clone()
        optimizer.step()
    return parameter.detach(), optimizer


def literal(
    weight,
    bases,
    grads,
    lr=3e-3,
    b1=0.95,
    b2=0.95,
    eps=1e-8,
    decay=0.01,
    every=10,
):
    """The published method for one matrix, step by step; M stays in parameter space and is rotated at each use.

    ``bases``: the first eigenvectors. They are given, because those of the first gradient's null space are arbitrary.
    """
    w, g = weight.clone(), grads[0]
    left, right = (1 - b2) * g @ g.T, (1 - b2) * g.T @ g
    ql, qr = bases
    mean, square = torch.zeros_like(w), torch.zeros_like(w)
    for t, g in enumerate(grads[1:], start=1):
        rotated = ql.T @ g @ qr
        mean = b1 * mean + (1 - b1) * g
        square = b2 * square + (1 - b2) * rotated**2
        step = (ql.T @ mean @ qr) / (torch.sqrt(square) + eps)
        w = w - lr * math.sqrt(1 - b2**t) / (1 - b1**t) * (ql @ step @ qr.T)
        w = w - lr * decay * w
        left, right = b2 * left + (1 - b2) * g @ g.T, b2 * right + (1 - b2) * g.T @ g
        if t % every == 0:
            order = (ql.T @ left @ ql).diag().argsort(descending=True)
            square, ql = square[order], torch.linalg.qr(left @ ql[:, order])[0]
            order = (qr.T @ right @ qr).diag().argsort(descending=True)
            square, qr = square[:, order], torch.linalg.qr(right @ qr[:, order])[0]
    return w


@pytest.mark.parametrize("every", [1, 3, 10])
@pytest.mark.parametrize("shape", [(4, 4), (3, 6), (6, 4)])
def test_agrees_with_the_literal_reference(shape, every):
    grads = gradients(*shape)
    weight = normal(*shape)
    _, optimizer = feed(weight, grads[:1])
    state = next(iter(optimizer.state.values()))
    bases = state["basis_left"], state["basis_right"]
    got, _ = feed(weight, grads, precondition_frequency=every)
    torch.testing.assert_close(got, literal(weight, bases, grads, every=every), rtol=1e-7, atol=1e-9)


def test_long_sides_keep_the_identity():
    _, optimizer = feed(normal(12, 3), gradients(12, 3)[:3], max_precondition_dim=10)
    state = next(iter(optimizer.state.values()))
    assert "gram_left" not in state
    assert state["gram_right"].shape == (3, 3)


def test_more_axes_are_the_matrix_of_the_first_and_the_rest():
    grads = gradients(3, 2, 4)
    weight = normal(3, 2, 4)
    got, _ = feed(weight, grads)
    flat, _ = feed(weight.view(3, 8), grads.view(-1, 3, 8))
    assert got.equal(flat.view(3, 2, 4))
