"""The language models: one table of frozen entries, the three published scales, and ``build_model``."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from actlab.activations import ACTIVATIONS
from actlab.errors import Table, check_name
from actlab.models.charlm import CharLM
from actlab.models.convlm import ConvLM
from actlab.models.hybridlm import HybridLM
from actlab.models.layers import GATED_WIDTHS, GeneratorFor, LanguageModel, ModelConfig, from_global_stream
from actlab.models.minigpt import MiniGPT
from actlab.models.nanotransformer import NanoTransformer
from actlab.models.tinylstm import TinyLSTM

__all__ = ["MODELS", "SCALES", "LanguageModel", "ModelConfig", "build_model", "count_parameters"]


@dataclass(frozen=True)
class Model:
    """One row of the table: the class, what it is, and where its activation acts."""

    name: str
    factory: Callable[..., LanguageModel]
    description: str
    acts_in: str


_IN_BLOCKS = "the feed-forward layer of each block"
_ROWS = (
    Model("charlm", CharLM, "GPT with separate projections and dropout", _IN_BLOCKS),
    Model("minigpt", MiniGPT, "GPT with packed projections and embedding dropout", _IN_BLOCKS),
    Model("nanotransformer", NanoTransformer, "GPT without dropout or attention biases", _IN_BLOCKS),
    Model("convlm", ConvLM, "six dilated causal convolutions", "after each convolution's LayerNorm"),
    Model("hybridlm", HybridLM, "LSTM, one attention and one feed-forward layer", "the feed-forward layer"),
    Model("tinylstm", TinyLSTM, "LSTM and a linear head", "between the LSTM and the head"),
)
MODELS = Table("model", ((row.name, row) for row in _ROWS))
"""By name; ``actlab.register_model`` adds a user's own."""

SCALES = {  # vocab_size, n_layer, n_embd, n_head, block_size, dropout
    "quick": ModelConfig(65, 2, 64, 4, 64, 0.2),
    "lite": ModelConfig(65, 2, 128, 4, 128, 0.2),
    "partial": ModelConfig(65, 2, 256, 4, 256, 0.2),
    "full": ModelConfig(65, 6, 384, 6, 256, 0.2),
    "33k": ModelConfig(65, 2, 32, 4, 128, 0.2),
    "116k": ModelConfig(65, 2, 64, 4, 128, 0.2),
    "1m": ModelConfig(65, 2, 200, 4, 128, 0.2),
    "39m": ModelConfig(65, 8, 640, 10, 256, 0.2),
    "101m": ModelConfig(65, 8, 1024, 16, 256, 0.2),
}
"""The published scales, ``quick`` for trying things out, and steps between and beyond them, named after charlm's
parameter count.

65 is tiny Shakespeare's vocabulary; a study puts its own text's there."""


def build_model(
    name: str,
    config: ModelConfig,
    activation: str,
    *,
    gated_width: str = "matched",
    generator_for: GeneratorFor = from_global_stream,
) -> LanguageModel:
    """A freshly initialised model: ``forward(tokens: (B, T) int64) -> logits (B, T, vocab_size)``.

    Args:
        name: a key of ``MODELS``.
        config: its size; see ``SCALES``.
        activation: a key of ``ACTIVATIONS``.
        gated_width: ``matched`` (a gated arm has the plain arm's parameter count within 1%; 1.2% at ``quick`` and
        ``116k``, 2.2% at ``33k``, where widths are coarse) or ``doubled`` (as published).
        generator_for: parameter name -> generator that fills it; without one, each is seeded from torch's
        global stream.

    Raises:
        UnknownName: no such model, activation or ``gated_width``.
    """
    check_name("gated_width", gated_width, GATED_WIDTHS)
    model = MODELS[name].factory(config, ACTIVATIONS[activation], gated_width)
    model.initialise(generator_for)
    return model


def count_parameters(model: torch.nn.Module) -> int:
    """How many numbers training can change."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
