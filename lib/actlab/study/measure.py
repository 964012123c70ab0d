"""What a record of language models measures on its trained trials: means, pairs and ensembles. Trains nothing."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean

import torch
from torch import Tensor
from torch.nn import functional as F

from actlab import metrics
from actlab.study.trial import Results

Predictions = Mapping[str, Tensor]
"""Label of a trial -> its probabilities (N, V) on the frozen windows."""


def means(names: Iterable[str], trials: Iterable[Results], pairs: Iterable[Results] = ()) -> dict[str, float]:
    """A record's means: of the last evaluations of the trials that are done, and of their pairs; NaN of nothing."""
    rows = [*(trial.get("final", trial) for trial in trials if trial["status"] == "done"), *pairs]
    found = {}
    for name in names:
        values = [row[name] for row in rows if name in row]
        found[f"avg_{name}"] = fmean(values) if values else math.nan
    return found


def row_pairs(predictions: Predictions, couples: Iterable[tuple[str, str]], own: Iterable[str] = ()) -> list[Results]:
    """The row-wise metrics of these pairs of trials."""
    couples = list(couples)
    distances = metrics.pairwise(predictions, couples, own)
    return [{"between": list(pair), **values} for pair, values in zip(couples, distances, strict=True)]


def disjoint(labels: Sequence[str], size: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every unordered pair of disjoint ensembles of ``size`` trials each."""
    for first in combinations(labels, size):
        rest = [label for label in labels[labels.index(first[0]) :] if label not in first]
        for second in combinations(rest, size):
            yield first, second


def ensembles(predictions: Predictions, size: int, most: int | None = None, own: Iterable[str] = ()) -> list[Results]:
    """The row-wise metrics between the mean probabilities of two disjoint ensembles of ``size`` trials; ``between``
    holds their labels.

    All such pairs, or ``most`` of them, evenly spread over their list.
    """
    pairs = list(disjoint(list(predictions), size))
    n = min(most or len(pairs), len(pairs))
    chosen = [pairs[i * len(pairs) // n] for i in range(n)]
    return [
        {
            "between": [list(first), list(second)],
            **metrics.row_means(_average(predictions, first), _average(predictions, second), own),
        }
        for first, second in chosen
    ]


def ensemble_losses(predictions: Predictions, size: int, targets: Tensor) -> list[Results]:
    """Mean cross-entropy (nats) of consecutive disjoint ensembles of ``size`` trials against ``targets`` (N,); ``of``
    holds their labels."""
    labels = list(predictions)
    groups = [labels[i : i + size] for i in range(0, len(labels) - size + 1, size)]
    return [{"of": group, "loss": F.nll_loss(_average(predictions, group).log(), targets).item()} for group in groups]


def _average(predictions: Predictions, labels: Sequence[str]) -> Tensor:
    return torch.stack([predictions[label] for label in labels]).mean(dim=0)
