"""The exact permutation test of F against a recomputed number and the two-sample test of SciPy; floors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from actlab.errors import BadInput
from actlab.statistics import permutation_f, sign_flip_floor

CHARLM = {
    "relu": [1.55377, 1.55269, 1.56011],
    "gelu": [1.55847, 1.52676, 1.57674],
    "swish": [1.47377, 1.51979, 1.49850],
}


def test_f_of_the_reference_losses() -> None:
    found = permutation_f(CHARLM)
    assert found.p_value == pytest.approx(60 / 1680)
    assert found.floor == pytest.approx(6 / 1680)
    assert found.statistic == pytest.approx(8.341, rel=2e-3)


def test_f_of_two_arms_is_the_two_sample_test() -> None:
    """Integers bring ties, which rounding must not part; arms of two sizes."""

    def distance(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.round(np.abs(x.mean(axis=axis) - y.mean(axis=axis)), 12)

    for a, b in (([1.0, 2, 2, 5], [3.0, 4, 4]), ([0.1, 0.2, 0.3], [0.3, 0.1, 0.7]), ([0.0, 1, 2], [10.0, 11, 12])):
        expected = stats.permutation_test((a, b), distance, n_resamples=np.inf, alternative="greater", vectorized=True)
        assert permutation_f({"a": a, "b": b}).p_value == pytest.approx(expected.pvalue), (a, b)


def test_sign_flips_of_n_pairs_have_a_floor() -> None:
    """Known: 0.25 at three, 0.0625 at five; the test of SciPy reaches it where all differences have one sign."""
    for n, floor in ((3, 0.25), (5, 0.0625), (6, 0.03125)):
        exact = stats.permutation_test((np.arange(n) + 1.0,), np.mean, permutation_type="samples", n_resamples=np.inf)
        assert sign_flip_floor(n) == floor == pytest.approx(exact.pvalue)


def test_what_cannot_be_enumerated() -> None:
    assert math.isnan(permutation_f({"a": [1.0], "b": [2.0]}).p_value)
    assert permutation_f({"a": [1.0, 2, math.nan], "b": [3.0, 5]}) == permutation_f({"a": [1.0, 2], "b": [3.0, 5]})
    with pytest.raises(BadInput, match="relabellings"):
        permutation_f({"a": np.arange(12.0), "b": np.arange(12.0)})
