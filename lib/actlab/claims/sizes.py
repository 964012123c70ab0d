"""How many parameters the six language models have with a plain activation, as formulas: counting needs no torch.
Tests hold them to the models.
"""

from __future__ import annotations

from dataclasses import dataclass

from actlab.errors import UnknownName

VOCABULARY = 65
"""Tiny Shakespeare's characters."""


@dataclass(frozen=True)
class Size:
    """A published scale: L layers, width d, context T."""

    layers: int
    width: int
    context: int


SIZES = {"lite": Size(2, 128, 128), "partial": Size(2, 256, 256), "full": Size(6, 384, 256)}
KERNEL, BLOCKS = 3, 6
"""Of convlm, at every scale."""


def parameters(model: str, scale: str) -> int:
    """Trainable parameters of a model of ``SIZES[scale]``."""
    if model not in FORMULAS:
        raise UnknownName("model", model, FORMULAS)
    return FORMULAS[model](SIZES[scale])


def _attention(d: int, biases: int = 4) -> int:
    return 4 * d**2 + biases * d


def _feed_forward(d: int, hidden: int) -> int:
    return 2 * d * hidden + hidden + d


def _gpt(size: Size, biases: int) -> int:
    """Embeddings, blocks of two LayerNorms, attention and feed-forward, a final LayerNorm, a head without bias."""
    d = size.width
    block = _attention(d, biases) + _feed_forward(d, 4 * d) + 4 * d
    return 2 * VOCABULARY * d + size.context * d + size.layers * block + 2 * d


def _recurrent(size: Size) -> int:
    """Embedding, LSTM of two bias vectors, a head with bias."""
    d = size.width
    return VOCABULARY * d + size.layers * (8 * d**2 + 8 * d) + d * VOCABULARY + VOCABULARY


def _convolutions(size: Size) -> int:
    d = size.width
    return 2 * VOCABULARY * d + VOCABULARY + BLOCKS * (KERNEL * d**2 + 3 * d)


def _hybrid(size: Size) -> int:
    d = size.width
    return _recurrent(size) + _attention(d) + _feed_forward(d, 2 * d) + 4 * d


FORMULAS = {
    "charlm": lambda size: _gpt(size, 4),
    "minigpt": lambda size: _gpt(size, 4),
    "nanotransformer": lambda size: _gpt(size, 0),
    "convlm": _convolutions,
    "hybridlm": _hybrid,
    "tinylstm": _recurrent,
}
