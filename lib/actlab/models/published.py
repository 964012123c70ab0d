"""What the published study's networks did wrong: convolutions that saw the future."""

from __future__ import annotations

from torch import nn

from actlab.models.convlm import ConvBlock


def pad_both(model: nn.Module) -> None:
    """Convolutions are padded on both sides, so that a position sees the characters that it predicts."""
    for block in model.modules():
        if isinstance(block, ConvBlock):
            reach = sum(block.padding)
            block.padding = (reach // 2, reach // 2)
