"""minigpt: charlm's shape with a packed qkv projection, dropout on the embedding sum and none after attention."""

from collections.abc import Mapping
from typing import ClassVar, final

from actlab.models.layers import Initialiser, Transformer, xavier, zeros


@final
class MiniGPT(Transformer):
    """429,824 parameters at lite scale. Positions start at zero; the packed qkv matrix keeps PyTorch's Xavier start."""

    special: ClassVar[Mapping[str, Initialiser]] = {"positions.weight": zeros, "qkv.weight": xavier}

    residual_dropout = (False, True)
    embedding_dropout = True
