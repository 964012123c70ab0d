"""Ensembles of trials: how far two disjoint ensembles of one arm differ, on the same inputs. Averages probabilities; trains nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import torch
from torch import Tensor

from actlab import metrics


def splits(labels: Sequence[str], size: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every unordered pair of disjoint ensembles of ``size`` trials each."""
    for first in combinations(labels, size):
        rest = [label for label in labels if label not in first and labels.index(label) > labels.index(first[0])]
        yield from ((first, second) for second in combinations(rest, size))


def differences(predictions: Mapping[str, Tensor], size: int) -> list[dict[str, Any]]:
    """The row-wise metrics between the mean probabilities of every two disjoint ensembles; ``between`` holds their labels."""
    found = []
    for pair in splits(list(predictions), size):
        p, q = (torch.stack([predictions[label] for label in ensemble]).mean(dim=0) for ensemble in pair)
        found.append({"between": [list(ensemble) for ensemble in pair], **metrics.row_means(p, q)})
    return found
