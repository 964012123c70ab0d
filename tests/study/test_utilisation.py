"""MFU: the formula by hand, and nothing where the peak is not known."""

from __future__ import annotations

import pytest

from actlab.models.gpt2 import GPT2_SCALES
from actlab.study.utilisation import PEAK_FLOPS, share_of_peak, utilisation
from actlab.trainers.recipes import TokenRecipe


def test_the_formula_by_hand() -> None:
    """6 N + 12 L C T operations a token, positions not counted, over the peak of all GPUs."""
    config, n = GPT2_SCALES["124m"], 124_082_688
    a_token = 6 * (n - 512 * 768) + 12 * 12 * 768 * 512
    found = share_of_peak(config, n, 300_000.0, "NVIDIA H100 80GB HBM3", processes=2)
    assert found == {"mfu": pytest.approx(a_token * 300_000 / (2 * 989.4e12))}
    assert 0.1 < found["mfu"] < 0.2


def test_an_unknown_gpu_has_no_mfu() -> None:
    """Omitted, not guessed; the same on a CPU and in float32."""
    assert share_of_peak(GPT2_SCALES["124m"], 1, 1.0, "Some New GPU") == {}
    for recipe in (TokenRecipe(1, 1), TokenRecipe(1, 1, dtype="bfloat16"), TokenRecipe(1, 1, device="cuda")):
        assert utilisation(GPT2_SCALES["124m"], 1, 1.0, recipe) == {}
    assert all(1e13 < peak < 1e16 for peak in PEAK_FLOPS.values())
