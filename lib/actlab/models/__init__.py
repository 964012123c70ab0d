"""The language models: one table of frozen entries, the three published scales, and ``build_model``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from actlab.activations import find_activation
from actlab.errors import Table
from actlab.models.charlm import CharLM
from actlab.models.convlm import ConvLM
from actlab.models.hybridlm import HybridLM
from actlab.models.layers import LanguageModel, ModelConfig, check_gated_width
from actlab.models.minigpt import MiniGPT
from actlab.models.nanotransformer import NanoTransformer
from actlab.models.tinylstm import TinyLSTM

__all__ = ["MODELS", "SCALES", "LanguageModel", "ModelConfig", "build_model", "count_parameters", "find_model"]


@dataclass(frozen=True)
class Model:
    """One row of the table: the class, what it is, and where its activation acts."""

    name: str
    factory: Callable[..., LanguageModel]
    description: str
    acts_in: str


_ROWS = (
    Model("charlm", CharLM, "GPT with separate projections and dropout", "the feed-forward layer of each block"),
    Model(
        "minigpt", MiniGPT, "GPT with packed projections and embedding dropout", "the feed-forward layer of each block"
    ),
    Model(
        "nanotransformer",
        NanoTransformer,
        "GPT without dropout or attention biases",
        "the feed-forward layer of each block",
    ),
    Model("convlm", ConvLM, "six dilated causal convolutions", "after each convolution's LayerNorm"),
    Model("hybridlm", HybridLM, "LSTM, then one attention and one feed-forward layer", "the feed-forward layer"),
    Model("tinylstm", TinyLSTM, "LSTM and a linear head", "between the LSTM and the head"),
)
MODELS: Table[Model] = Table("model", ((row.name, row) for row in _ROWS))
"""By name; ``actlab.register_model`` adds a user's own."""

SCALES: dict[str, ModelConfig] = {
    "quick": ModelConfig(vocab_size=65, n_layer=2, n_embd=64, n_head=4, block_size=64, dropout=0.2),
    "lite": ModelConfig(vocab_size=65, n_layer=2, n_embd=128, n_head=4, block_size=128, dropout=0.2),
    "partial": ModelConfig(vocab_size=65, n_layer=2, n_embd=256, n_head=4, block_size=256, dropout=0.2),
    "full": ModelConfig(vocab_size=65, n_layer=6, n_embd=384, n_head=6, block_size=256, dropout=0.2),
    "33k": ModelConfig(vocab_size=65, n_layer=2, n_embd=32, n_head=4, block_size=128, dropout=0.2),
    "116k": ModelConfig(vocab_size=65, n_layer=2, n_embd=64, n_head=4, block_size=128, dropout=0.2),
    "1m": ModelConfig(vocab_size=65, n_layer=2, n_embd=200, n_head=4, block_size=128, dropout=0.2),
    "39m": ModelConfig(vocab_size=65, n_layer=8, n_embd=640, n_head=10, block_size=256, dropout=0.2),
    "101m": ModelConfig(vocab_size=65, n_layer=8, n_embd=1024, n_head=16, block_size=256, dropout=0.2),
}
"""The published scales, ``quick`` for trying things out, and steps between and beyond them, named after charlm's
parameters.

65 is tiny Shakespeare's vocabulary; a study puts its own text's there."""


def find_model(name: str, where: str = "") -> Model:
    """The table's entry of that name; ``UnknownName`` lists the known ones."""
    return MODELS.find(name, where)


def build_model(
    name: str,
    config: ModelConfig,
    activation: str,
    *,
    gated_width: str = "matched",
    generator_for: Callable[[str], torch.Generator] | None = None,
) -> LanguageModel:
    """A freshly initialised model: ``forward(tokens: (B, T) int64) -> logits (B, T, vocab_size)``.

    Args:
        name: a key of ``MODELS``.
        config: its size; see ``SCALES``.
        activation: a key of ``ACTIVATIONS``.
        gated_width: ``matched`` (a gated arm has the plain arm's parameter count within 1%) or ``doubled`` (as
        published).
        generator_for: parameter name -> generator that fills it; without one, each is seeded from torch's
        global stream.

    Raises:
        UnknownName: no such model or activation.
        BadInput: no such ``gated_width``.
    """
    entry, function = find_model(name), find_activation(activation)
    check_gated_width(gated_width)
    model = entry.factory(replace(config), function, gated_width)
    model.initialise(generator_for or (lambda _: torch.Generator().manual_seed(int(torch.randint(2**62, ())))))
    return model


def count_parameters(model: torch.nn.Module) -> int:
    """How many numbers training can change."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
