"""nanotransformer: a pre-norm GPT without dropout, whose attention has no biases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, final

from actlab.activations import Activation
from actlab.models.layers import Block, CausalSelfAttention, FeedForward, Initialiser, ModelConfig, Transformer, zeros


@final
class NanoTransformer(Transformer):
    """428,800 parameters at lite scale. ``config.dropout`` is not used: this model has none."""

    special: ClassVar[Mapping[str, Initialiser]] = {"positions.weight": zeros}

    def __init__(self, config: ModelConfig, activation: Activation, gated_width: str = "matched") -> None:
        c = config
        super().__init__(
            c,
            [
                Block(
                    CausalSelfAttention(c.n_embd, c.n_head, bias=False, attention_dropout=0.0),
                    FeedForward(c.n_embd, 4 * c.n_embd, activation, gated_width),
                    c.n_embd,
                    (0.0, 0.0),
                )
                for _ in range(c.n_layer)
            ],
        )
