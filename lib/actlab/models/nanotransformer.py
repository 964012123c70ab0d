"""nanotransformer: a pre-norm GPT without dropout, whose attention has no biases."""

from dataclasses import replace
from typing import final

from torch import nn

from actlab.models.layers import CausalSelfAttention, Transformer, zeros


@final
class NanoTransformer(Transformer):
    """428,800 parameters at lite scale. ``config.dropout`` is not used: this model has none."""

    special = (("positions.weight", zeros),)

    def make_attention(self) -> nn.Module:
        return CausalSelfAttention(replace(self.config, dropout=0.0), qkv_bias=False, out_bias=False)
