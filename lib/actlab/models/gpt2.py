"""gpt2: GPT-2 with a tied head, learned or rotary positions, and symmetry-breaking attention; the ablation's model.

Radford et al. 2019; the ablation: Silverstein, Kunin & Shyam 2026, arXiv 2601.22257.
Shapes: B sequences, T positions, C features (``n_embd``), V tokens, nh heads of size hs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from actlab.activations import Activation, find_activation
from actlab.errors import BadInput, UnknownName
from actlab.models.layers import GeneratorFor, ModelConfig, Transformer, from_global_stream
from actlab.models.rotary import RotaryPositions
from actlab.models.symmetry import POLICIES, SymmetryBreaking

POSITIONS = ("learned", "rope")

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

    positions: str = "learned"
    rope_share: float = 0.5
    """Share of each head's features that rotate."""
    qkv_bias: bool = True
    """Whether the qkv projection has a learned bias, which can cancel the mean of bQ; without it only the attention
    biases break the symmetry."""
    symmetry: str = "symmetric"
    value_mean: float = 0.0
    evaluation: str = "mean"
    """A key of ``symmetry.POLICIES``. The published code evaluates with the ``last`` draw."""
    evaluation_draws: int = 8
    """Draws of ``resample``, whose probabilities are averaged."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.positions not in POSITIONS:
            raise UnknownName("positions", self.positions, POSITIONS)
        if self.positions == "rope" and not (0 < self.rope_share <= 1 and self.rotated % 2 == 0 and self.rotated > 0):
            raise BadInput(
                f"rope_share {self.rope_share} of a head of {self.head_size} features is not an even number of them"
            )
        if self.evaluation not in POLICIES:
            raise UnknownName("evaluation policy", self.evaluation, POLICIES)
        if self.evaluation_draws < 1:
            raise BadInput(f"evaluation_draws must be at least 1, got {self.evaluation_draws}")

    @property
    def head_size(self) -> int:
        return self.n_embd // self.n_head

    @property
    def rotated(self) -> int:
        """Features of a head that rotate."""
        return round(self.rope_share * self.head_size)


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
    """Causal attention; after the qkv projection and after rotation, the layer's vectors are added to q, k and v of
    every head."""

    def __init__(self, config: GPT2Config) -> None:
        super().__init__()
        self.n_head, self.dropout = config.n_head, config.dropout
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.qkv_bias)
        self.out = nn.Linear(config.n_embd, config.n_embd)
        self.rotary = RotaryPositions(config.rotated, config.block_size) if config.positions == "rope" else None
        self.symmetry = SymmetryBreaking(config.symmetry, config.head_size, config.value_mean)

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """(B, T, C) -> q, k, v as they enter the softmax, each (B, nh, T, hs)."""
        batch, time, width = x.shape
        q, k, v = self.qkv(x).view(batch, time, 3, self.n_head, width // self.n_head).permute(2, 0, 3, 1, 4)
        if self.rotary is not None:
            q, k = self.rotary(q), self.rotary(k)
        added = self.symmetry.vectors()
        roles = zip(("query", "key", "value"), (q, k, v), strict=True)
        q, k, v = (part + added[role].to(part.dtype) if role in added else part for role, part in roles)
        return q, k, v

    def forward(self, x: Tensor) -> Tensor:
        mixed = F.scaled_dot_product_attention(
            *self.heads(x), dropout_p=self.dropout if self.training else 0.0, is_causal=True
        )
        return self.out(mixed.transpose(1, 2).reshape(x.shape))


@final
class GPT2(Transformer):
    """124,082,688 parameters at the published size with GELU; ``random_prelu`` adds 36,864 slopes.

    Every forward in training mode draws each layer's vectors anew. In evaluation mode ``config.evaluation`` decides:
    ``last`` leaves the last draw, ``mean`` uses the expectation, ``resample`` averages the probabilities over
    ``evaluation_draws`` draws, which are the same at every call and take nothing from the training streams (its output
    is then the logarithm of the mean probability).
    """

    def __init__(self, config: GPT2Config, activation: Activation, gated_width: str = "matched") -> None:
        super().__init__(
            config,
            activation,
            gated_width,
            lambda: SymmetryBreakingAttention(config),
            residual_dropout=(config.dropout, config.dropout),
            embedding_dropout=config.dropout,
            positions=config.positions == "learned",
            tied=True,
        )
        self.settings = config

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
        if self.training or self.settings.symmetry == "symmetric" or self.settings.evaluation == "last":
            return self.logits(tokens)
        kept = self._vectors()
        try:
            return self._average(tokens) if self.settings.evaluation == "resample" else self._expected(tokens)
        finally:
            self._put(kept)

    def _expected(self, tokens: Tensor) -> Tensor:
        self._put([layer.means() for _, layer in self.symmetry_layers()])
        return self.logits(tokens)

    def _average(self, tokens: Tensor) -> Tensor:
        own, draws = torch.Generator().manual_seed(0), self.settings.evaluation_draws
        total = torch.full((), -math.inf)
        for _ in range(draws):
            self.draw(own)
            total = torch.logaddexp(total, torch.log_softmax(self.logits(tokens).float(), dim=-1))
        return total - math.log(draws)

    def logits(self, tokens: Tensor) -> Tensor:
        """(B, T) -> (B, T, V) with the vectors as they stand."""
        return super().forward(tokens)

    @eager
    def draw(self, generator: torch.Generator | None = None) -> None:
        """New vectors in every layer: from its own stream, or all from one given generator."""
        for _, layer in self.symmetry_layers():
            layer.draw(generator)

    @eager
    def _vectors(self) -> list[dict[str, Tensor]]:
        return [
            {role: vector.clone() for role, vector in layer.vectors().items()} for _, layer in self.symmetry_layers()
        ]

    @eager
    def _put(self, vectors: list[dict[str, Tensor]]) -> None:
        for (_, layer), mine in zip(self.symmetry_layers(), vectors, strict=True):
            layer.set(mine)


def build_gpt2(
    config: GPT2Config,
    activation: str,
    *,
    gated_width: str = "matched",
    generator_for: GeneratorFor = from_global_stream,
) -> GPT2:
    """A freshly initialised GPT-2: all matrices N(0, 0.02^2), biases 0, as the other models.

    Args:
        config: its size and variant; see ``GPT2_SCALES``.
        activation: a key of ``ACTIVATIONS``.
        gated_width: as in ``build_model``.
        generator_for: name of a parameter, or of a layer's symmetry breaking -> its random stream.
    """
    model = GPT2(config, find_activation(activation), gated_width)
    model.initialise(generator_for)
    return model
