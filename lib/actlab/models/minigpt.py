"""minigpt: charlm's shape with a packed qkv projection, dropout on the embedding sum and none after the attention
output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

from actlab.activations import Activation
from actlab.models.layers import (
    Block,
    CausalSelfAttention,
    FeedForward,
    Initialiser,
    ModelConfig,
    Transformer,
    xavier,
    zeros,
)


@final
class MiniGPT(Transformer):
    """429,824 parameters at lite scale. Positions start at zero; the packed qkv matrix keeps PyTorch's Xavier start."""

    special: ClassVar[Mapping[str, Initialiser]] = {"positions.weight": zeros, "qkv.weight": xavier}

    def __init__(self, config: ModelConfig, activation: Activation, gated_width: str = "matched") -> None:
        c = config
        super().__init__(
            c,
            [
                Block(
                    CausalSelfAttention(c.n_embd, c.n_head, bias=True, attention_dropout=c.dropout),
                    FeedForward(c.n_embd, 4 * c.n_embd, activation, gated_width),
                    c.n_embd,
                    (0.0, c.dropout),
                )
                for _ in range(c.n_layer)
            ],
            embedding_dropout=c.dropout,
        )
