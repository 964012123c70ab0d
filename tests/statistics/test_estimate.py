"""What an estimate says of itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from actlab.statistics.means import paired_difference


def test_p_value_of_an_interval_is_the_t_tests() -> None:
    """Inverting the paired t interval gives SciPy's paired t test; no interval, no evidence; a sure difference, no
    doubt."""
    generator = np.random.default_rng(1)
    a, b = generator.normal(0.8, 1, 8), generator.normal(0, 1, 8)
    assert paired_difference(a, b).p_value() == pytest.approx(stats.ttest_rel(a, b).pvalue)
    assert paired_difference([1.0], [2.0]).p_value() == 1
    assert paired_difference([1.0, 2.0], [1.0, 2.0]).p_value() == 1
    assert paired_difference([1.0, 2.0], [2.0, 3.0]).p_value() == 0
