"""Ensembles of trials: how far two disjoint ensembles of one arm differ, on the same inputs. Averages probabilities;
trains nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from actlab import metrics


def splits(labels: Sequence[str], size: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every unordered pair of disjoint ensembles of ``size`` trials each."""
    for first in combinations(labels, size):
        rest = [label for label in labels if label not in first and labels.index(label) > labels.index(first[0])]
        yield from ((first, second) for second in combinations(rest, size))


def differences(
    predictions: Mapping[str, Tensor], size: int, most: int | None = None, own: Iterable[str] = ()
) -> list[dict[str, Any]]:
    """The row-wise metrics (a user's `own` too) between the mean probabilities of two disjoint ensembles; ``between``
    holds their labels.

    All such pairs, or ``most`` of them, evenly spread over their list.
    """
    pairs = list(splits(list(predictions), size))
    step = max(1, len(pairs) // most) if most else 1
    found = []
    for pair in islice(pairs, 0, most and most * step, step):
        p, q = (_mean(predictions, ensemble) for ensemble in pair)
        found.append({"between": [list(ensemble) for ensemble in pair], **metrics.row_means(p, q, own)})
    return found


def losses(predictions: Mapping[str, Tensor], size: int, targets: Tensor) -> list[dict[str, Any]]:
    """Mean cross-entropy (nats) of consecutive disjoint ensembles of ``size`` trials against ``targets`` (N,); ``of``
    holds their labels."""
    labels = list(predictions)
    groups = [labels[i : i + size] for i in range(0, len(labels) - size + 1, size)]
    return [{"of": group, "loss": F.nll_loss(_mean(predictions, group).log(), targets).item()} for group in groups]


def _mean(predictions: Mapping[str, Tensor], labels: Sequence[str]) -> Tensor:
    return torch.stack([predictions[label] for label in labels]).mean(dim=0)
