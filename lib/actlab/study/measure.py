"""What a record of language models measures on its trained trials: pairs, snapshots, ensembles, averaged weights,
defects, single batches. Trains nothing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean

import torch
from torch import Tensor
from torch.nn import functional as F

from actlab import metrics
from actlab.models import LanguageModel
from actlab.study.trial import Results
from actlab.trainers.evaluation import exact, logits_of
from actlab.trainers.recipes import BaseRecipe
from actlab.trainers.windows import Windows, spread

BATCH_TOKENS = 4096
"""Tokens of one published validation batch: 8 x 512, side by side in the text."""
SPANS = 128
"""Batches that are measured; the published runs saw 122, one an evaluation."""
Predictions = Mapping[str, Tensor]
"""Label of a trial -> its probabilities (N, V) on the frozen windows."""


def mean(values: Iterable[float]) -> float:
    """NaN where there are none."""
    return fmean(numbers) if (numbers := list(values)) else float("nan")


def row_pairs(predictions: Predictions, couples: Iterable[tuple[str, str]], own: Iterable[str] = ()) -> list[Results]:
    """The row-wise metrics of these pairs of trials."""
    couples = list(couples)
    distances = metrics.pairwise(predictions, couples, own)
    return [{"between": list(pair), **values} for pair, values in zip(couples, distances, strict=True)]


def disjoint(labels: Sequence[str], size: int) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Every unordered pair of disjoint ensembles of ``size`` trials each."""
    for first in combinations(labels, size):
        rest = [label for label in labels[labels.index(first[0]) :] if label not in first]
        yield from ((first, second) for second in combinations(rest, size))


def ensembles(predictions: Predictions, size: int, most: int | None = None, own: Iterable[str] = ()) -> list[Results]:
    """The row-wise metrics between the mean probabilities of two disjoint ensembles of ``size`` trials; ``between``
    holds their labels.

    All such pairs, or ``most`` of them, evenly spread over their list.
    """
    pairs = list(disjoint(list(predictions), size))
    n = min(most or len(pairs), len(pairs))
    return [
        {
            "between": [list(first), list(second)],
            **metrics.row_means(_average(predictions, first), _average(predictions, second), own),
        }
        for first, second in (pairs[i * len(pairs) // n] for i in range(n))
    ]


def ensemble_losses(predictions: Predictions, size: int, targets: Tensor) -> list[Results]:
    """Mean cross-entropy (nats) of consecutive disjoint ensembles of ``size`` trials against ``targets`` (N,); ``of``
    holds their labels."""
    labels = list(predictions)
    groups = [labels[i : i + size] for i in range(0, len(labels) - size + 1, size)]
    return [{"of": group, "loss": F.nll_loss(_average(predictions, group).log(), targets).item()} for group in groups]


def _average(predictions: Predictions, labels: Sequence[str]) -> Tensor:
    return torch.stack([predictions[label] for label in labels]).mean(dim=0)


def batch_losses(model: LanguageModel, tokens: Tensor, recipe: BaseRecipe) -> Results:
    """What single validation batches, as published, would say of a trained model of the ablation.

    ``batch_losses``: nats a token, of up to ``SPANS`` spans of about ``BATCH_TOKENS`` tokens (``batch_tokens``; all
    that there are, if fewer) spread evenly over the validation split ``tokens`` (n,).
    """
    block_size = model.config.block_size
    batch_tokens = min(BATCH_TOKENS, len(tokens) - 1) // block_size * block_size
    whole = spread(tokens, max(batch_tokens, block_size), SPANS)  # a split shorter than a window is an error there
    windows = Windows(*(part.reshape(-1, block_size) for part in (whole.inputs, whole.targets)))
    pairs = logits_of(model, windows, recipe)
    losses = torch.cat([F.cross_entropy(logits, targets, reduction="none") for logits, targets in pairs])
    means = exact(losses.view(-1, batch_tokens)).mean(dim=1)
    return {"batch_tokens": batch_tokens, "batch_losses": [round(value, 6) for value in means.tolist()]}
