"""gpt2: GPT-2 with a tied head and symmetry-breaking attention; the ablation's model.

Radford et al. 2019; the ablation: Silverstein, Kunin & Shyam 2026, arXiv 2601.22257.
Shapes: B sequences, T positions, C features (``n_embd``), V tokens, nh heads of size hs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.activations import Activation
from actlab.models.layers import GeneratorFor, ModelConfig, Transformer, from_global_stream
from actlab.models.symmetry import ROLES, SymmetryBreaking

_disabled = cache(torch.compiler.disable)


def eager(method: Callable[..., Any]) -> Callable[..., Any]:
    """Keep a method out of ``torch.compile``. ``torch.compiler.disable`` itself imports the compiler where it
    decorates, which takes 2 s."""

    @wraps(method)
    def call(*args: Any) -> Any:
        return _disabled(method)(*args)

    return call


@dataclass(frozen=True)
class GPT2Config(ModelConfig):
    """Size and variant of a GPT-2. ``symmetry`` is a key of ``symmetry.MODES``."""

    qkv_bias: bool = True
    """Whether the qkv projection has a learned bias, which can cancel the mean of bQ; without it only the attention
    biases break the symmetry."""
    symmetry: str = "symmetric"
    evaluation: str = "mean"
    """A key of ``symmetry.POLICIES``. The published code evaluates with the ``last`` draw."""


GPT2_SCALES: dict[str, GPT2Config] = {  # vocab_size, n_layer, n_embd, n_head, block_size, dropout
    "quick": GPT2Config(512, 2, 64, 4, 64, 0.0),  # 0.14M parameters
    "mini": GPT2Config(4096, 7, 320, 5, 256, 0.0),  # 10.02M
    "124m": GPT2Config(50304, 12, 768, 12, 512, 0.0),  # 124,082,688, as published
    "355m": GPT2Config(50304, 24, 1024, 16, 512, 0.0),
    "774m": GPT2Config(50304, 36, 1280, 20, 512, 0.0),
    "1.3b": GPT2Config(50304, 24, 2048, 16, 512, 0.0),
}
"""50,304 is GPT-2's 50,257 rounded up to a multiple of 64. A study replaces the vocabulary by its shards'."""


class SymmetryBreakingAttention(nn.Module):
    """Causal attention; after the qkv projection, the layer's vectors are added to q, k and v of every head."""

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        self.n_head, self.dropout, self.policy = config.n_head, config.dropout, config.evaluation
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.qkv_bias)
        self.out = nn.Linear(config.n_embd, config.n_embd)
        self.symmetry = SymmetryBreaking(config.symmetry, config.n_embd // config.n_head)

    def forward(self, x: Tensor) -> Tensor:
        batch, time, width = x.shape
        qkv = self.qkv(x).view(batch, time, 3, self.n_head, width // self.n_head).permute(2, 0, 3, 1, 4)
        drawn = self.training or self.policy == "last"
        added = self.symmetry.vectors() if drawn else self.symmetry.means()
        q, k, v = (x + added[role].to(x) if role in added else x for role, x in zip(ROLES, qkv, strict=True))
        dropout = self.dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)  # (B, nh, T, hs)
        return self.out(mixed.transpose(1, 2).reshape(batch, time, width))


@final
class GPT2(Transformer):
    """124,082,688 parameters at the published size with GELU; ``random_prelu`` adds 36,864 slopes.

    Every forward in training mode draws each layer's vectors anew. In evaluation mode ``config.evaluation`` decides:
    ``last`` leaves the last draw, ``mean`` uses the expectation.
    """

    def __init__(self, config: GPT2Config, activation: Activation, gated_width: str = "matched") -> None:
        super().__init__(
            config,
            activation,
            gated_width,
            lambda: SymmetryBreakingAttention(config),
            residual_dropout=(config.dropout, config.dropout),
            embedding_dropout=config.dropout,
            tied=True,
        )

    def initialise(self, generator_for: GeneratorFor = from_global_stream) -> None:
        super().initialise(generator_for)
        for name, layer in self.symmetry_layers():
            layer.set(layer.means())
            layer.generator.set_state(generator_for(name).get_state())

    def symmetry_layers(self) -> Iterator[tuple[str, SymmetryBreaking]]:
        """(name, layer) of each attention's random vectors."""
        return ((name, module) for name, module in self.named_modules() if isinstance(module, SymmetryBreaking))

    def forward(self, tokens: Tensor) -> Tensor:
        if self.training:
            self.draw()
        return super().forward(tokens)

    @eager
    def draw(self) -> None:
        """New vectors in every layer, from its own stream."""
        for _, layer in self.symmetry_layers():
            layer.draw()
