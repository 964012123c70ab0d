"""What a model is told of text: an interface."""

from typing import Protocol

from torch import Tensor


class Vocabulary(Protocol):
    """What turns text into the tokens of a model and back."""

    def encode(self, text: str) -> Tensor:
        """(n,) int64."""

    def decode(self, numbers: Tensor) -> str:
        """The text of a 1-D tensor of tokens."""
