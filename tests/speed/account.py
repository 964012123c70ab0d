"""The arithmetic of a training step, and this machine's matrix rate beside which it is read."""

import torch
from tests.speed import timing
from torch.utils.flop_counter import FlopCounterMode


def _lstm(inputs, weights, recurrent, *_, **__):
    """Multiplications and additions of one LSTM layer: inputs (T, B, I), weights (4H, I), recurrent (4H, H)."""
    steps, batch, width = inputs
    return int(2 * steps * batch * weights[0] * (width + recurrent[1]))


def _lstm_backward(inputs, weights, recurrent, *_, **__):
    return 2 * _lstm(inputs, weights, recurrent)


def _attention(query, key, value, *_, **__):
    """Both products of attention, query (B, H, T, D), without the saving that a causal mask allows: as attention
    written out is counted."""
    batch, heads, length, width = query
    return int(2 * batch * heads * length * key[2] * (width + value[3]))


def _attention_backward(gradient, query, key, value, *_, **__):
    """Twice the forward pass: what the kernel computes again is its own affair."""
    return 2 * _attention(query, key, value)


FORMULAS = {
    torch.ops.aten.mkldnn_rnn_layer: _lstm,
    torch.ops.aten.mkldnn_rnn_layer_backward: _lstm_backward,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
}
"""Operations that PyTorch's counter passes over."""


def operations(work):
    """Multiplications and additions in products, convolutions, attention and LSTM layers of one call."""
    with FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
        work()
    return int(counter.get_total_flops())


def matmul_rate(size=1024, repeats=20):
    """GFLOP/s of this process's threads on a float32 matrix product: the measure for how well a step uses its
    arithmetic."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    return 2e-9 * size**3 / min(timing.seconds(lambda: a @ b) for _ in range(repeats))
