"""Operations are counted as on paper."""

import torch
from tests.speed import account
from torch import nn
from torch.nn import functional as F


def test_a_product_counts_two_operations_a_pair():
    """(3 x 5) times (5 x 7): 2 * 3 * 5 * 7."""
    a, b = torch.ones(3, 5), torch.ones(5, 7)
    assert account.operations(lambda: a @ b) == 2 * 3 * 5 * 7


def test_an_lstm_counts_its_four_gates():
    """T steps of B rows: 4H outputs from I inputs and H states; the backward pass costs twice as much."""
    steps, batch, inputs, hidden = 6, 2, 5, 3
    lstm, x = nn.LSTM(inputs, hidden), torch.ones(steps, batch, inputs, requires_grad=True)
    forward = 2 * steps * batch * 4 * hidden * (inputs + hidden)
    assert account.operations(lambda: lstm(x)[0]) == forward
    assert account.operations(lambda: lstm(x)[0].sum().backward()) == 3 * forward


def test_fused_attention_counts_like_attention_written_out():
    """Two products forward, four backward."""
    q, k, v = (torch.randn(2, 3, 8, 4, requires_grad=True) for _ in range(3))
    fused = account.operations(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward())
    assert (
        fused
        == account.operations(lambda: ((q @ k.transpose(2, 3)).softmax(3) @ v).sum().backward())
        == 3 * 2 * 2 * 2 * 3 * 8 * 8 * 4
    )
