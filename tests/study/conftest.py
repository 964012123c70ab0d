"""A study of milliseconds: a tiny scale and a toy text under the names of the quick ones."""

from __future__ import annotations

from dataclasses import replace

import pytest
import tiny

from actlab.data.text import TEXTS
from actlab.models import SCALES
from actlab.study.params import Params

TOY = "the quick brown fox jumps over the lazy dog; " * 30


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, fresh_texts: None) -> Params:
    """Parameters of a study whose trials take a blink."""
    monkeypatch.setitem(SCALES, "quick", replace(tiny.CONFIG))
    monkeypatch.setitem(TEXTS, "pydoc", lambda: TOY)
    sizes = {"trials": 3, "iterations": 4, "evaluate_every": 2, "batch_size": 2, "prediction_windows": 5}
    return Params(study="toy", activations=("relu", "gelu"), noise_floor=False, **sizes)
