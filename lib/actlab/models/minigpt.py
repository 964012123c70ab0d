"""minigpt: charlm's shape with a packed qkv projection, dropout on the embedding sum and none after attention."""

from collections.abc import Mapping
from typing import ClassVar, final

from torch import nn

from actlab.models.layers import CausalSelfAttention, Initialiser, Transformer, xavier, zeros


@final
class MiniGPT(Transformer):
    """429,824 parameters at lite scale. Positions start at zero; the packed qkv matrix keeps PyTorch's Xavier start."""

    special: ClassVar[Mapping[str, Initialiser]] = {"positions.weight": zeros, "qkv.weight": xavier}

    residual_dropout = (False, True)
    embedding_dropout = True

    def make_attention(self) -> nn.Module:
        c = self.config
        return CausalSelfAttention(c.n_embd, c.n_head, bias=True, attention_dropout=c.dropout)
