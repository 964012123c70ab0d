"""The arithmetic of a training step, and this machine's matrix rate beside which it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from tests.speed import timing
from torch.utils.flop_counter import FlopCounterMode


def _lstm(inputs: Any, weights: Any, recurrent: Any, *_: Any, **__: Any) -> int:
    """Multiplications and additions of one LSTM layer: inputs (T, B, I), weights (4H, I), recurrent (4H, H)."""
    steps, batch, width = inputs
    return int(2 * steps * batch * weights[0] * (width + recurrent[1]))


def _lstm_backward(inputs: Any, weights: Any, recurrent: Any, *_: Any, **__: Any) -> int:
    return 2 * _lstm(inputs, weights, recurrent)


def _attention(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    """Both products of attention, query (B, H, T, D), without the saving that a causal mask allows: as attention
    written out is counted."""
    batch, heads, length, width = query
    return int(2 * batch * heads * length * key[2] * (width + value[3]))


def _attention_backward(gradient: Any, query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    """Twice the forward pass: what the kernel computes again is its own affair."""
    return 2 * _attention(query, key, value)


FORMULAS = {
    torch.ops.aten.mkldnn_rnn_layer: _lstm,
    torch.ops.aten.mkldnn_rnn_layer_backward: _lstm_backward,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: _attention,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: _attention_backward,
}
"""Operations that PyTorch's counter passes over."""


def operations(work: Callable[[], object]) -> int:
    """Multiplications and additions in products, convolutions, attention and LSTM layers of one call."""
    with FlopCounterMode(display=False, custom_mapping=FORMULAS) as counter:
        work()
    return int(counter.get_total_flops())


def matmul_rate(size: int = 1024, repeats: int = 20) -> float:
    """GFLOP/s of this process's threads on a float32 matrix product: the measure for how well a step uses its
    arithmetic."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    return 2e-9 * size**3 / min(timing.seconds(lambda: a @ b) for _ in range(repeats))
