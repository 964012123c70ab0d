"""hybridlm: an LSTM stack, then one causal attention layer and one feed-forward layer, both residual."""

from typing import final

from torch import Tensor, nn

from actlab.activations import Activation
from actlab.models.layers import CausalSelfAttention, Dropout, FeedForward, LanguageModel, LSTMStack, ModelConfig


@final
class HybridLM(LanguageModel):
    """413,377 parameters at lite scale. The activation acts in the feed-forward layer (C -> 2C -> C)."""

    def __init__(self, config: ModelConfig, activation: Activation, gated_width: str = "matched") -> None:
        super().__init__(config)
        c = config
        self.tokens = nn.Embedding(c.vocab_size, c.n_embd)
        self.lstm = LSTMStack(c.n_embd, c.n_embd, c.n_layer, c.dropout)
        self.norm_1 = nn.LayerNorm(c.n_embd)
        self.attention = CausalSelfAttention(c)
        self.norm_2 = nn.LayerNorm(c.n_embd)
        self.feed_forward = FeedForward(c.n_embd, 2 * c.n_embd, activation, gated_width, c.dropout)
        self.drop = Dropout(c.dropout)
        self.head = nn.Linear(c.n_embd, c.vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.norm_1(self.lstm(self.tokens(tokens)))  # (B, T, C)
        x = self.norm_2(x + self.attention(x))
        x = x + self.drop(self.feed_forward(x))
        return self.head(x)  # (B, T, V)
