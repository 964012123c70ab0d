"""nanotransformer: a pre-norm GPT without dropout, whose attention has no biases."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, final

from torch import nn

from actlab.models.layers import CausalSelfAttention, Initialiser, Transformer, zeros


@final
class NanoTransformer(Transformer):
    """428,800 parameters at lite scale. ``config.dropout`` is not used: this model has none."""

    special: ClassVar[Mapping[str, Initialiser]] = {"positions.weight": zeros}

    def make_attention(self) -> nn.Module:
        return CausalSelfAttention(replace(self.config, dropout=0.0), qkv_bias=False, out_bias=False)
