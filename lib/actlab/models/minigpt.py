"""minigpt: charlm's shape with a packed qkv projection, dropout on the embedding sum and none after attention."""

from typing import final

from actlab.models.layers import Transformer, xavier, zeros


@final
class MiniGPT(Transformer):
    """429,824 parameters at lite scale. Positions start at zero; the packed qkv matrix keeps PyTorch's Xavier start."""

    special = (("positions.weight", zeros), ("qkv.weight", xavier))
    residual_dropout = (False, True)
    embedding_dropout = True
