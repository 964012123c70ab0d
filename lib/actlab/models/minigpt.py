"""minigpt: charlm's shape with a packed qkv projection, dropout on the embedding sum and none after attention."""

from collections.abc import Mapping
from typing import ClassVar, final

from actlab.activations import Activation
from actlab.models.layers import CausalSelfAttention, Initialiser, ModelConfig, Transformer, xavier, zeros


@final
class MiniGPT(Transformer):
    """429,824 parameters at lite scale. Positions start at zero; the packed qkv matrix keeps PyTorch's Xavier start."""

    special: ClassVar[Mapping[str, Initialiser]] = {"positions.weight": zeros, "qkv.weight": xavier}

    def __init__(self, config: ModelConfig, activation: Activation, gated_width: str = "matched") -> None:
        dropout = config.dropout
        super().__init__(
            config,
            activation,
            gated_width,
            lambda: CausalSelfAttention(config.n_embd, config.n_head, bias=True, attention_dropout=dropout),
            residual_dropout=(0.0, dropout),
            embedding_dropout=dropout,
        )
