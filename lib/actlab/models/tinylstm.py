"""tinylstm: an LSTM stack, the activation, and a linear head."""

from typing import final

from torch import Tensor, nn

from actlab.activations import Activation
from actlab.models.layers import LanguageModel, LSTMStack, ModelConfig, nearest_width


def lstm_parameters(n_embd: int, hidden: int, n_layer: int) -> int:
    """Parameters of ``n_layer`` LSTM layers of width ``hidden`` over inputs of width ``n_embd``."""
    return sum(4 * hidden * (inputs + hidden + 2) for inputs in [n_embd] + [hidden] * (n_layer - 1))


@final
class TinyLSTM(LanguageModel):
    """280,897 parameters at lite scale. The activation stands between the LSTM and the head.

    Gated: a packed projection makes gate and value of 2C/3 features each before the head. ``matched`` pays for it with
    a slightly narrower LSTM (the head keeps a rank above V), ``doubled`` keeps the LSTM and makes C features of each.
    """

    def __init__(self, config: ModelConfig, activation: Activation, gated_width: str = "matched") -> None:
        super().__init__(config)
        c = config
        hidden = features = c.n_embd
        self.gate_and_value: nn.Module = nn.Identity()
        if activation.gated:
            if gated_width == "matched":
                features = round(2 * c.n_embd / 3)
                plain = lstm_parameters(c.n_embd, c.n_embd, c.n_layer) + c.n_embd * c.vocab_size
                hidden = nearest_width(
                    lambda w: (
                        lstm_parameters(c.n_embd, w, c.n_layer) + 2 * features * (w + 1) + features * c.vocab_size
                    ),
                    plain,
                )
            self.gate_and_value = nn.Linear(hidden, 2 * features)
        self.tokens = nn.Embedding(c.vocab_size, c.n_embd)
        self.lstm = LSTMStack(c.n_embd, hidden, c.n_layer, c.dropout)
        self.act = activation.make(features=features)
        self.head = nn.Linear(features, c.vocab_size)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.lstm(self.tokens(tokens))  # (B, T, hidden)
        return self.head(self.act(self.gate_and_value(x)))  # (B, T, V)
