"""Networks as the published study built them: an unknown activation became ReLU, convolutions saw the future."""

from __future__ import annotations

from actlab.models import LanguageModel, ModelConfig, build_model
from actlab.models.convlm import ConvBlock
from actlab.models.layers import GeneratorFor, from_global_stream


def build_published(
    name: str,
    config: ModelConfig,
    activation: str,
    *,
    activation_ignored: bool = False,
    padded_both: bool = False,
    gated_width: str = "matched",
    generator_for: GeneratorFor = from_global_stream,
) -> LanguageModel:
    """``build_model`` with defects.

    Args:
        name: as of ``build_model``, like ``config``, ``gated_width`` and ``generator_for``.
        config: a size.
        activation: the one that was asked for.
        activation_ignored: the network has ReLU all the same.
        padded_both: convolutions are padded on both sides, so that a position sees the characters that it predicts.
        gated_width: as published: ``doubled``.
        generator_for: parameter name -> generator.
    """
    used = "relu" if activation_ignored else activation
    model = build_model(name, config, used, gated_width=gated_width, generator_for=generator_for)
    for block in model.modules():
        if padded_both and isinstance(block, ConvBlock):
            reach = sum(block.padding)
            block.padding = (reach // 2, reach // 2)
    return model
