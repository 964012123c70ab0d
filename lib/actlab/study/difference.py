"""The measures of difference on predictions that are written down, to teach what they see and what they overlook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from actlab import metrics
from actlab.errors import BadInput

Case = tuple[Sequence[float], Sequence[float]]
WORDS = {
    "total_variation": "total variation",
    "relative_pd": "relative PD",
    "churn": "churn",
    "jensen_shannon": "JSD (bits)",
}


def measures(cases: Mapping[str, Case]) -> dict[str, dict[str, float]]:
    """Name of a case -> measure -> its value for two probability vectors (V,) at one position.

    Raises:
        BadInput: a vector that does not add up to 1, or two of different lengths.
    """
    return {
        name: _of(name, *(torch.tensor([one], dtype=torch.float64) for one in case)) for name, case in cases.items()
    }


def _of(name: str, p: torch.Tensor, q: torch.Tensor) -> dict[str, float]:
    if p.shape != q.shape or any(abs(float(one.sum()) - 1) > 1e-6 for one in (p, q)):
        raise BadInput(
            f"{name}: expected two probability vectors of one length that add up to 1, got {p[0].tolist()} and {q[0].tolist()}"
        )
    return {words: float(getattr(metrics, key)(p, q)) for key, words in WORDS.items()}
