"""Contracts of the built-in parts: each returns what is wrong, if anything. Not a test."""

import torch
from torch.nn import functional as F

from actlab.activations import ACTIVATIONS
from actlab.plugins import TINY, fault_of, tiny_network
from actlab.trainers.seeds import generator

UNSEEN = "key.bias"
"""The end of names of parameters without an effect: it adds one number to all scores of a query, which softmax
cancels."""


def tokens(batch=2):
    """Random inputs (B, T)."""
    return torch.randint(TINY.vocab_size, (batch, TINY.block_size), generator=generator(1, "tokens"))


def sound(model, name):
    """What an own part is tried for: reach and causality."""
    return fault_of(model, ACTIVATIONS[name])


@torch.inference_mode()
def alone(model, name):
    """No sequence depends on its neighbours in the batch."""
    net, given = tiny_network(model, ACTIVATIONS[name]).train(), tokens(3)
    changed = torch.cat([given[:1], (given[1:] + 1) % TINY.vocab_size])
    return "" if torch.equal(net(given)[0], net(changed)[0]) else "a sequence sees the others of its batch"


def gradients(model, name):
    """Every parameter receives a finite gradient."""
    net, given = tiny_network(model, ACTIVATIONS[name]).train(), tokens(8)
    F.cross_entropy(net(given).flatten(0, 1), given.roll(-1, 1).flatten()).backward()
    slopes = {key: parameter.grad for key, parameter in net.named_parameters() if not key.endswith(UNSEEN)}
    idle = [key for key, slope in slopes.items() if slope is None or not slope.isfinite().all() or not slope.any()]
    return f"{', '.join(idle)} learns nothing" if idle else ""


OF_CELLS = {"sound": sound, "alone": alone, "gradients": gradients}


def slopes(name):
    """Finite from -50 to 50, and equal to finite differences between -3 and 3."""
    row = ACTIVATIONS[name]
    module, width = row.make(features=4).double(), 8 if row.gated else 4
    wide = torch.linspace(-50, 50, 64 * width, dtype=torch.float64).view(-1, width).requires_grad_(True)
    (slope,) = torch.autograd.grad(module(wide).sum(), wide)
    if not (slope.isfinite().all() and slope.any()):
        return "the derivative is not finite, or 0 everywhere, between -50 and 50"
    near = (6 * torch.rand(16, width, dtype=torch.float64, generator=generator(1, "points")) - 3).requires_grad_(True)
    same = torch.autograd.gradcheck(module, near, raise_exception=False)
    return "" if same else "the derivative differs from finite differences"
