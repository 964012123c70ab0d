"""nanotransformer: a pre-norm GPT without dropout, whose attention has no biases."""

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, final

from actlab.activations import Activation
from actlab.models.layers import CausalSelfAttention, Initialiser, ModelConfig, Transformer, zeros


@final
class NanoTransformer(Transformer):
    """428,800 parameters at lite scale. ``config.dropout`` is not used: this model has none."""

    special: ClassVar[Mapping[str, Initialiser]] = {"positions.weight": zeros}

    def __init__(self, config: ModelConfig, activation: Activation, gated_width: str = "matched") -> None:
        attention = partial(CausalSelfAttention, config.n_embd, config.n_head, bias=False, attention_dropout=0.0)
        super().__init__(config, activation, gated_width, attention)
