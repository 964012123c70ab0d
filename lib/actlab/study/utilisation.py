"""Model FLOPs utilisation: which share of a GPU's peak a training run turns into the model's own arithmetic."""

from __future__ import annotations

import torch

from actlab.models.gpt2 import GPT2Config, flops_per_token
from actlab.trainers.recipes import BaseRecipe

PEAK_FLOPS: dict[str, float] = {
    "NVIDIA A100-SXM4-40GB": 312e12,
    "NVIDIA A100-SXM4-80GB": 312e12,
    "NVIDIA A100-PCIE-40GB": 312e12,
    "NVIDIA A100 80GB PCIe": 312e12,
    "NVIDIA H100 80GB HBM3": 989.4e12,
    "NVIDIA H100 PCIe": 756e12,
    "NVIDIA H200": 989.4e12,
    "NVIDIA L4": 121e12,
    "NVIDIA L40S": 362e12,
}
"""Dense bfloat16 operations a second by device name, from NVIDIA's data sheets (half of their sparse rates). A GPU that
is not here has no MFU."""


def utilisation(
    config: GPT2Config, parameters: int, tokens_per_second: float, recipe: BaseRecipe, processes: int = 1
) -> dict[str, float]:
    """``{"mfu": share}`` of the peak of ``processes`` GPUs (Chowdhery et al. 2022, appendix B); empty off a known GPU
    and in float32."""
    if torch.device(recipe.device).type != "cuda" or recipe.dtype != "bfloat16":
        return {}
    return share_of_peak(config, parameters, tokens_per_second, torch.cuda.get_device_name(recipe.device), processes)


def share_of_peak(
    config: GPT2Config, parameters: int, tokens_per_second: float, device_name: str, processes: int = 1
) -> dict[str, float]:
    """The same for a device by its name."""
    peak = PEAK_FLOPS.get(device_name)
    return {"mfu": flops_per_token(config, parameters) * tokens_per_second / (peak * processes)} if peak else {}
