"""Rank correlation and CV%: SciPy, and a printed table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics import coefficient_of_variation
from actlab.statistics.summaries import rank_correlation

CHARLM_PD = [0.9051, 1.0739, 1.0938, 0.5935, 1.0952]
"""The five CharLM cells of the reference's table, printed there with mean 0.9523 and CV 20.26%."""


def test_rank_correlation_is_the_one_of_scipy() -> None:
    """With ties; NaN where one side is constant."""
    points = np.random.default_rng(0).integers(0, 5, size=(2, 4, 9)).astype(float)
    expected = [stats.spearmanr(x, y).statistic for x, y in points.swapaxes(0, 1)]
    np.testing.assert_allclose(rank_correlation(points), expected)
    assert math.isnan(rank_correlation(np.array([[[1.0, 1.0]], [[1.0, 2.0]]]))[0])


def test_cv_of_the_reference_table() -> None:
    """The table prints the population's; a sample's is 22.66%."""
    assert coefficient_of_variation(CHARLM_PD, ddof=0) == pytest.approx(20.26, abs=0.01)
    assert coefficient_of_variation(CHARLM_PD) == pytest.approx(22.66, abs=0.01)
    assert math.isnan(coefficient_of_variation([1.0]))
    assert math.isnan(coefficient_of_variation([-1.0, 1.0]))
    with pytest.raises(BadInput, match="got 2"):
        coefficient_of_variation([1.0, 2.0], ddof=2)
