"""Character text: the corpora, their vocabulary, and the split by position. Makes tensors; knows nothing of models."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import torch
from torch import Tensor

from actlab.data import novels
from actlab.data.fetch import SHAKESPEARE, fetch, find_dataset
from actlab.errors import BadInput, UnknownName

TRAIN_SHARE = 0.9


@dataclass(frozen=True)
class Corpus:
    """A text as character numbers, split 90/10 by position: the validation text follows the training text."""

    name: str
    vocabulary: str
    """The distinct characters, sorted; a character's number is its place here."""
    train: Tensor
    """(n,) uint8 or int16 character numbers."""
    validation: Tensor
    sha256: str
    """Of the whole text in UTF-8."""

    @property
    def vocab_size(self) -> int:
        """How many distinct characters the whole text has."""
        return len(self.vocabulary)

    def limited(self, fraction: float) -> Self:
        """The same with the last ``fraction`` of its training text alone; vocabulary and validation text stay."""
        return replace(self, train=self.train[len(self.train) - round(fraction * len(self.train)) :])

    def part(self, name: str) -> Self:
        """The same with ``all`` of its validation text, or its ``first`` or ``second`` half; ``UnknownName`` otherwise."""
        half = len(self.validation) // 2
        parts = {"all": self.validation, "first": self.validation[:half], "second": self.validation[half:]}
        if name not in parts:
            raise UnknownName("part of the validation text", name, parts)
        return replace(self, validation=parts[name])

    def encode(self, text: str) -> Tensor:
        """(len(text),) int64; a character outside the vocabulary is a ``BadInput``."""
        unknown = sorted(set(text) - set(self.vocabulary))
        if unknown:
            raise BadInput(f"the vocabulary of {self.name} has no {', '.join(map(repr, unknown[:5]))}")
        numbers = {c: i for i, c in enumerate(self.vocabulary)}
        return torch.tensor([numbers[c] for c in text], dtype=torch.int64)

    def decode(self, numbers: Tensor) -> str:
        """The text of a 1-D tensor of character numbers."""
        return "".join(self.vocabulary[i] for i in numbers.tolist())


def _pydoc() -> str:
    from pydoc_data.topics import topics

    return "\n".join(topics[key] for key in sorted(topics))


def _shakespeare() -> str:
    return fetch(SHAKESPEARE).read_text(encoding="utf-8")


TEXTS: dict[str, Callable[[], str]] = {"pydoc": _pydoc, "shakespeare": _shakespeare, "novels": novels.read_all}


@lru_cache(maxsize=2)
def load_text(name: str) -> Corpus:
    """The named corpus; ``UnknownName`` and ``DataError`` say what is allowed and what is missing."""
    find_dataset(name, tuple(TEXTS))
    return corpus_of(name, TEXTS[name]())


def corpus_of(name: str, text: str) -> Corpus:
    """A corpus from any text of at least 100 characters."""
    if len(text) < 100:
        raise BadInput(f"{name}: a corpus needs at least 100 characters, got {len(text)}")
    vocabulary = "".join(sorted(set(text)))
    codes = torch.frombuffer(bytearray(text.encode("utf-32-le")), dtype=torch.int32)
    table = torch.zeros(int(codes.max()) + 1, dtype=torch.uint8 if len(vocabulary) <= 256 else torch.int16)
    table[torch.tensor([ord(c) for c in vocabulary])] = torch.arange(len(vocabulary), dtype=table.dtype)
    numbers = table[codes.long()]
    cut = int(len(text) * TRAIN_SHARE)
    return Corpus(name, vocabulary, numbers[:cut], numbers[cut:], hashlib.sha256(text.encode()).hexdigest())
