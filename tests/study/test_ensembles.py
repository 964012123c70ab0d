"""Ensembles: which are compared, and known differences."""

from __future__ import annotations

from math import comb

import pytest
import torch

from actlab import metrics
from actlab.study.measure import disjoint, ensembles


@pytest.mark.parametrize(("trials", "size"), [(2, 1), (5, 1), (4, 2), (5, 2), (6, 3)])
def test_every_pair_of_disjoint_ensembles_once(trials: int, size: int) -> None:
    """C(M, m) C(M - m, m) / 2 unordered pairs, none sharing a trial."""
    found = list(disjoint([str(i) for i in range(trials)], size))
    assert len(found) == comb(trials, size) * comb(trials - size, size) / 2
    assert len({frozenset(pair) for pair in found}) == len(found)
    assert all(not set(a) & set(b) for a, b in found)


def test_differences_are_between_mean_probabilities() -> None:
    """The metric of the averages, not the average of the metrics: opposite errors cancel."""
    p = {
        "1": torch.tensor([[1.0, 0.0]]),
        "2": torch.tensor([[0.0, 1.0]]),
        "3": torch.tensor([[1.0, 0.0]]),
        "4": torch.tensor([[0.0, 1.0]]),
    }
    found = {str(entry["between"]): entry["total_variation"] for entry in ensembles(p, 2)}
    assert found == {"[['1', '2'], ['3', '4']]": 0.0, "[['1', '3'], ['2', '4']]": 1.0, "[['1', '4'], ['2', '3']]": 0.0}


def test_single_trials_are_the_ordinary_pairs() -> None:
    """Ensembles of one."""
    random = torch.Generator().manual_seed(0)
    p = {str(i): torch.softmax(torch.randn(9, 4, generator=random), 1) for i in range(3)}
    entry = ensembles(p, 1)[0]
    assert entry["between"] == [["0"], ["1"]]
    assert {k: v for k, v in entry.items() if k != "between"} == metrics.row_means(p["0"], p["1"])
