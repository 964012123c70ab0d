"""charlm: a pre-norm GPT with separate q, k, v and output projections, and dropout after attention and feed-forward."""

from typing import final

from torch import Tensor, nn

from actlab.models.layers import ModelConfig, Transformer, attend


class SeparateAttention(nn.Module):
    """Causal attention whose q, k and v have a matrix and a bias each."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.n_head, self.dropout = config.n_head, config.dropout
        self.query, self.key, self.value, self.out = (nn.Linear(config.n_embd, config.n_embd) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        projections = (self.query(x), self.key(x), self.value(x))
        return self.out(attend(projections, self.n_head, self.dropout if self.training else 0.0))


@final
class CharLM(Transformer):
    """429,824 parameters at lite scale. The embedding sum has no dropout."""

    residual_dropout = (True, True)

    def make_attention(self) -> nn.Module:
        return SeparateAttention(self.config)
