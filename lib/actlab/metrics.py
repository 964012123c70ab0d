"""Prediction-difference metrics: pure functions of two (N, V) probability tensors of the *same* N inputs.

Rows are inputs, columns classes; each row sums to 1.  All are symmetric (but for the sign of win and loss), 0 for equal
tensors, and lower means more reproducible.  Comparing predictions made on different inputs measures the inputs, not the
models: align the rows first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from actlab.errors import BadInput, Table


class ChurnSplit(NamedTuple):
    """Shares of the N inputs in [0, 1]; win + loss + neutral = churn. For two seeds of one recipe win and loss are
    exchangeable."""

    win: float
    """First wrong, second right."""
    loss: float
    """First right, second wrong."""
    neutral: float
    """Both wrong, with different labels."""


def _pair(p: Any, q: Any) -> tuple[Tensor, Tensor]:
    p, q = _numbers(p), _numbers(q)
    if p.shape != q.shape or p.dim() != 2 or not p.numel():
        raise BadInput(
            f"expected two probability tensors of one shape (N, V), got {tuple(p.shape)} and {tuple(q.shape)}"
        )
    return p, q


def _distributions(p: Any, q: Any) -> tuple[Tensor, Tensor]:
    """Return the pair, if tables have one order and each row is a distribution within 1%: else softmax is missing."""
    if hasattr(p, "columns") and hasattr(q, "columns"):
        same_order = p.index.equals(q.index) and p.columns.equals(q.columns)
        if not same_order:
            raise BadInput("expected two tables with the same index and columns in the same order: align them first")
    pair = _pair(p, q)
    for which, values in zip(("first", "second"), pair, strict=True):
        total, least = values.double().sum(dim=1), values.amin(dim=1)
        wrong = (total - 1).abs().gt(0.01) | least.lt(0)
        if wrong.any():
            row = int(wrong.nonzero()[0])
            raise BadInput(
                f"expected probabilities, rows of numbers from 0 that sum to 1, but row {row} of the {which} model has "
                f"the sum {total[row]:.4g} and the minimum {least[row]:.4g} (softmax of logits is missing, or percent?)"
            )
    return pair


def _targets(p: Tensor, targets: object) -> Tensor:
    labels = _numbers(targets)
    if labels.shape != p.shape[:1]:
        raise BadInput(f"expected {p.shape[0]} targets, one for each input, got shape {tuple(labels.shape)}")
    last = p.shape[1] - 1
    truth = labels.long().clamp(0, last)
    if wrong := labels[labels != truth].tolist():
        raise BadInput(f"expected targets that are whole numbers from 0 to {last}, got {wrong[0]:g}")
    return truth


def _numbers(values: Any) -> Tensor:
    """Return a tensor in single or double precision as it is, anything else in double: half precision has too few
    digits for a sum over labels."""
    if isinstance(values, Tensor):
        return values if values.dtype in (torch.float32, torch.float64) else values.double()
    return torch.from_numpy(np.array(values, np.float64))


def total_variation_rows(p: Tensor, q: Tensor) -> Tensor:
    """Return 1/2 sum_l |p_l - q_l| of each row: (N,), in [0, 1]."""
    return (p - q).abs().sum(dim=1) / 2


def relative_pd_rows(p: Tensor, q: Tensor) -> Tensor:
    """Return the mean over labels of 2 |p_l - q_l| / (p_l + q_l) of each row: (N,), in [0, 2]; 0 / 0 counts as 0."""
    return 2 * _relative((p - q).abs(), p + q).mean(dim=1)


def _relative(difference: Tensor, total: Tensor) -> Tensor:
    return torch.where(total == 0, 0.0, difference / total)


def churn_rows(p: Tensor, q: Tensor) -> Tensor:
    """Return 1 where the most probable labels differ, else 0: (N,). NaN stays NaN."""
    return (p.argmax(dim=1) != q.argmax(dim=1)) + 0 * (p + q).sum(dim=1)


def jensen_shannon_rows(p: Tensor, q: Tensor) -> Tensor:
    """Return the Jensen-Shannon divergence of each row in bits: (N,), in [0, 1]."""
    total = p + q
    return _bits(_relative((p - q).abs(), total), total)


def _bits(relative: Tensor, total: Tensor) -> Tensor:
    """Compute the Jensen-Shannon divergence from u = |p - q| / (p + q), sum_l (p_l + q_l) ((1 + u) ln(1 + u) +
    (1 - u) ln(1 - u)) / 4: accurate also where p and q differ in their last digits alone."""
    u = relative.clamp(max=1 - torch.finfo(total.dtype).eps / 2)  # (1 - u) ln(1 - u) is 0 at u = 1
    nats = (total * ((1 + u) * torch.log1p(u) + (1 - u) * torch.log1p(-u))).sum(dim=1) / 4
    return (nats / math.log(2)).clamp(max=1)


ROWS: Table[Callable[[Tensor, Tensor], Tensor]] = Table(
    "metric",
    (
        ("total_variation", total_variation_rows),
        ("relative_pd", relative_pd_rows),
        ("churn", churn_rows),
        ("jensen_shannon", jensen_shannon_rows),
    ),
)
"""Metric name -> its value on each row, (N, V) x (N, V) -> (N,); ``actlab.register_metric`` adds a user's own."""
ROWS_AT_ONCE = 2048
"""So few that they stay in the processor's cache."""


def row_means(p: Tensor, q: Tensor, own: Iterable[str] = ()) -> dict[str, float]:
    """Return every built-in metric and those of a user's ``own``, averaged over the inputs."""
    p, q = _pair(p, q)
    names = (*ROWS.built_in, *own)
    sums = torch.zeros(len(names), dtype=torch.float64)
    for rows in zip(torch.split(p, ROWS_AT_ONCE), torch.split(q, ROWS_AT_ONCE), strict=True):
        sums += torch.stack([ROWS[name](*rows).double().sum() for name in names]).cpu()
    return dict(zip(names, (sums / len(p)).tolist(), strict=True))


def _mean(rows: Callable[[Tensor, Tensor], Tensor], p: Tensor, q: Tensor) -> float:
    return rows(*_distributions(p, q)).double().mean().item()


def total_variation(p: Tensor, q: Tensor) -> float:
    """Return the mean total variation distance, in [0, 1]: half the L1 distance, and Delta_1 of Shamir & Coviello 2020
    (arXiv 2010.09923) for two models.

    It bounds from below how often two samplers drawing from p and q must disagree.
    """
    return _mean(total_variation_rows, p, q)


def relative_pd(p: Tensor, q: Tensor) -> float:
    """Return the mean over inputs and labels of ``2 |p - q| / (p + q)``, in [0, 2].

    The reference studies' extension, to all labels, of the relative prediction difference of binary systems (Shamir &
    Lin 2022, arXiv 2202.06499). Every label weighs the same, however improbable, so it is not a share of predictions.
    """
    return _mean(relative_pd_rows, p, q)


def churn(p: Tensor, q: Tensor) -> float:
    """Return the share of inputs whose most probable labels differ, in [0, 1]. Milani Fard et al. 2016 (NIPS)."""
    return _mean(churn_rows, p, q)


def jensen_shannon(p: Tensor, q: Tensor) -> float:
    """Return the mean Jensen-Shannon divergence in **bits**, in [0, 1]; TV^2 / (2 ln 2) <= JSD <= TV for each input.
    Lin 1991."""
    return _mean(jensen_shannon_rows, p, q)


def churn_split(p: Tensor, q: Tensor, targets: object) -> ChurnSplit:
    """Take churn apart by who is right. ``targets``: (N,) true labels. Wins minus losses are the
    difference of the two accuracies."""
    p, q = _pair(p, q)
    truth, differ = _targets(p, targets), churn_rows(p, q)
    right_1, right_2 = p.argmax(dim=1) == truth, q.argmax(dim=1) == truth

    def share(mask: Tensor) -> float:
        return (differ * mask).double().mean().item()

    return ChurnSplit(share(right_2), share(right_1), share(~right_1 & ~right_2))


def label_pd(p: Tensor, q: Tensor, targets: object) -> float:
    """Return the mean of ``2 |p - q| / (p + q)`` at the true label only, in [0, 2]. ``targets``: (N,). 0 / 0 counts as
    0."""
    p, q = _pair(p, q)
    index = _targets(p, targets)[:, None]
    return relative_pd_rows(p.gather(1, index), q.gather(1, index)).double().mean().item()


def compare(p: object, q: object, targets: object = None, own: Iterable[str] = ()) -> dict[str, float]:
    """Compute every metric of a pair of models of any framework, averaged over the inputs; those of a user's ``own``
    too.

    >>> from actlab import metrics
    >>> one, other = [[0.9, 0.1], [0.6, 0.4]], [[0.8, 0.2], [0.3, 0.7]]  # of two inputs and two classes
    >>> distances = metrics.compare(one, other, [0, 1])
    >>> round(distances["total_variation"], 3), distances["churn"]
    (0.2, 0.5)

    Args:
        p, q: (N, V) probabilities of the *same* N inputs in one order: arrays, lists or tensors. NaN stays NaN.
        targets: (N,) true labels 0 to V - 1; without them the metrics that need them are left out.
        own: names of metrics that a user has registered.

    Raises:
        BadInput: other shapes, other labels, or a row that is no distribution: a negative value, or a sum 1% from 1 or
            more.
    """
    first, second = _distributions(p, q)
    distances = row_means(first, second, own)
    if targets is None:
        return distances
    return {
        **distances,
        "label_pd": label_pd(first, second, targets),
        **{f"churn_{name}": value for name, value in churn_split(first, second, targets)._asdict().items()},
    }
