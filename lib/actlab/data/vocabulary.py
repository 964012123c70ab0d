"""The characters of a text and their numbers. Those of the texts that are downloaded are here (`vocabularies.yaml`),
so that recorded networks write without them."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from actlab.errors import BadInput
from actlab.files import read_yaml


@dataclass(frozen=True)
class Vocabulary:
    """The distinct characters of a text, sorted."""

    name: str
    """Of the text."""
    vocabulary: str
    """A character's number is its place here."""

    @property
    def vocab_size(self) -> int:
        """Return how many distinct characters the whole text has."""
        return len(self.vocabulary)

    def encode(self, text: str) -> Tensor:
        """Return the numbers of a text, (len(text),) int64; a character outside the vocabulary is a ``BadInput``."""
        if unknown := sorted(set(text) - set(self.vocabulary)):
            raise BadInput(f"the vocabulary of {self.name} has no {', '.join(map(repr, unknown[:5]))}")
        numbers = {c: i for i, c in enumerate(self.vocabulary)}
        return torch.tensor([numbers[c] for c in text], dtype=torch.int64)

    def decode(self, numbers: Tensor) -> str:
        """Return the text of a 1-D tensor of character numbers."""
        return "".join(self.vocabulary[i] for i in numbers.tolist())


KNOWN = {
    sha256: Vocabulary(**fields) for sha256, fields in read_yaml(Path(__file__).with_name("vocabularies.yaml")).items()
}
"""Hash of a text -> its vocabulary."""
