"""Attention and dropout: the fast paths against slow literal references, and the statistics of the cheap dropout
mask."""

import math
from itertools import product

import numpy as np
import pytest
import tiny
import torch

from actlab.models import layers
from actlab.models.layers import Dropout, attend, keep_mask

B, T, HEADS, C = 2, 7, 3, 12


def literal(q, k, v, mask):
    """Causal attention one position at a time: weights are softmax over s <= t of q_t . k_s / sqrt(hs), times
    ``mask``."""
    out, size = np.zeros_like(q), C // HEADS
    for b, h, t in product(range(B), range(HEADS), range(T)):
        past, part = slice(t + 1), slice(h * size, (h + 1) * size)
        weights = np.exp(k[b, past, part] @ q[b, t, part] / math.sqrt(size))
        out[b, t, part] = (mask[b, h, t, past] * weights / weights.sum()) @ v[b, past, part]
    return out


def test_attention_agrees_with_a_literal_reference(monkeypatch):
    """With a given mask, the CPU's dropout path is the formula, written out, with those weights dropped and the others
    rescaled. (Without one: ``test_bench``.)"""
    q, k, v = tiny.normal(3, B, T, C)
    mask = keep_mask(torch.empty(B, HEADS, T, T, dtype=torch.float64), 0.3)
    monkeypatch.setattr(layers, "keep_mask", lambda like, dropout: mask)
    expected = literal(*map(np.asarray, (q, k, v, mask)))
    np.testing.assert_allclose(attend((q, k, v), HEADS, 0.3).numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dropout", [0.1, 0.2, 0.5, 0.9])
def test_keep_mask_rate_and_scale(dropout):
    """Zeros come at the asked rate (five standard errors), every other element is 1 / (1 - p) for p rounded to
    2^-16."""
    torch.manual_seed(1)
    n = 400_000
    mask = keep_mask(torch.empty(n), dropout)
    rounded = round(dropout * 65536) / 65536
    assert abs(rounded - dropout) <= 2**-17
    assert mask.unique().tolist() == [0.0, pytest.approx(1 / (1 - rounded), rel=1e-7)]
    assert abs((mask == 0).double().mean().item() - rounded) < 5 * math.sqrt(dropout * (1 - dropout) / n)


def test_dropout_module():
    """Dropout acts in training only, at p > 0 only."""
    x = torch.ones(50, 40)
    assert Dropout(0.3).eval()(x) is Dropout(0.0)(x) is x
    assert 0 < (Dropout(0.3)(x) == 0).float().mean() < 0.5
