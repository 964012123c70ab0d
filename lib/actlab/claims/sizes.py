"""How many parameters the six language models have with a plain activation, by published scale: tests count the models.

Numbers and no models, so that the ledger needs no torch.
"""

from __future__ import annotations

from actlab.errors import UnknownName

PARAMETERS = {
    "charlm": {"lite": 429_824, "partial": 1_678_848, "full": 10_795_776},
    "minigpt": {"lite": 429_824, "partial": 1_678_848, "full": 10_795_776},
    "nanotransformer": {"lite": 428_800, "partial": 1_676_800, "full": 10_786_560},
    "convlm": {"lite": 313_921, "partial": 1_217_601, "full": 2_711_105},
    "hybridlm": {"lite": 413_377, "partial": 1_613_121, "full": 8_330_177},
    "tinylstm": {"lite": 280_897, "partial": 1_086_017, "full": 7_146_305},
}
"""Model -> scale -> trainable parameters."""


def parameters(model: str, scale: str) -> int:
    """Trainable parameters of a model at ``lite``, ``partial`` or ``full`` scale."""
    if model not in PARAMETERS:
        raise UnknownName("model", model, PARAMETERS)
    return PARAMETERS[model][scale]
