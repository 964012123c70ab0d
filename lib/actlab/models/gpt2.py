"""gpt2: GPT-2 with a tied head and symmetry-breaking attention; the ablation's model.

Radford et al. 2019; the ablation: Silverstein, Kunin & Shyam 2026, arXiv 2601.22257.
Shapes: B sequences, T positions, C features (``n_embd``), V tokens, nh heads of size hs.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor, nn

from actlab.models.layers import CausalSelfAttention, GeneratorFor, ModelConfig, Transformer
from actlab.models.symmetry import ROLES, SymmetryBreaking


@dataclass(frozen=True)
class GPT2Config(ModelConfig):
    """Size and variant of a GPT-2. ``symmetry`` is a key of ``symmetry.MODES``."""

    qkv_bias: bool = True
    """Whether the qkv projection has a learned bias, which can cancel the mean of bQ; without it only the attention
    biases break the symmetry."""
    symmetry: str = "symmetric"
    evaluation: str = "mean"
    """A key of ``symmetry.POLICIES``. The published code evaluates with the ``last`` draw."""


GPT2_SCALES = {  # vocab_size, n_layer, n_embd, n_head, block_size, dropout
    "quick": GPT2Config(512, 2, 64, 4, 64, 0.0),  # 0.14M parameters
    "mini": GPT2Config(4096, 7, 320, 5, 256, 0.0),  # 10.02M
    "124m": GPT2Config(50304, 12, 768, 12, 512, 0.0),  # 124,082,688, as published
    "355m": GPT2Config(50304, 24, 1024, 16, 512, 0.0),
    "774m": GPT2Config(50304, 36, 1280, 20, 512, 0.0),
    "1.3b": GPT2Config(50304, 24, 2048, 16, 512, 0.0),
}
"""50,304 is GPT-2's 50,257 rounded up to a multiple of 64. A study replaces the vocabulary by its shards'."""


class SymmetryBreakingAttention(CausalSelfAttention):
    """Causal attention; after the qkv projection, the layer's vectors are added to q, k and v of every head."""

    def __init__(self, config: GPT2Config) -> None:
        super().__init__(config, config.qkv_bias)
        self.policy = config.evaluation
        self.symmetry = SymmetryBreaking(config.symmetry, config.n_embd // config.n_head)

    def projections(self, x: Tensor) -> tuple[Tensor, ...]:
        drawn = self.training or self.policy == "last"
        added = self.symmetry.vectors() if drawn else self.symmetry.means()
        projections = dict(zip(ROLES, super().projections(x), strict=True))
        for role, vector in added.items():
            projections[role] = projections[role] + vector.repeat(self.n_head).to(projections[role])
        return tuple(projections.values())


@final
class GPT2(Transformer):
    """124,082,688 parameters at the published size with GELU; ``random_prelu`` adds 36,864 slopes.

    Every forward in training mode draws each layer's vectors anew. In evaluation mode ``config.evaluation`` decides:
    ``last`` leaves the last draw, ``mean`` uses the expectation.
    """

    config: GPT2Config
    residual_dropout = (True, True)
    embedding_dropout = True
    tied = True

    def make_attention(self) -> nn.Module:
        return SymmetryBreakingAttention(self.config)

    def initialise(self, generator_for: GeneratorFor) -> None:
        super().initialise(generator_for)
        for name, layer in self.symmetry_layers():
            layer.generator.set_state(generator_for(name).get_state())

    def symmetry_layers(self) -> Iterator[tuple[str, SymmetryBreaking]]:
        """(name, layer) of each attention's random vectors."""
        return ((name, module) for name, module in self.named_modules() if isinstance(module, SymmetryBreaking))

    def forward(self, tokens: Tensor) -> Tensor:
        if self.training:
            # the compiler, which takes 2 s to load, is named only where it is at work
            compiling = torch.compiler.is_compiling()
            draw = torch.compiler.disable(self.draw) if compiling else self.draw  # type: ignore[no-untyped-call]
            draw()
        return super().forward(tokens)

    def draw(self) -> None:
        """New vectors in every layer, from its own stream."""
        for _, layer in self.symmetry_layers():
            layer.draw()
