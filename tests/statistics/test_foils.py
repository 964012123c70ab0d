"""The published methods, reproduced as published: their coverage is measured in ``test_coverage.py``."""

from __future__ import annotations

import math

import numpy as np
import pytest

from actlab.statistics import bootstrap_maximum


@pytest.mark.parametrize(("k", "share"), [(2, 0.75), (4, 0.6836), (8, 0.6564)])
def test_upper_limit_is_the_sample_maximum(k: int, share: float) -> None:
    """P(resampled maximum = sample maximum) = 1 - (1 - 1/k)^k: above the 2.5% that the upper limit leaves."""
    values = np.arange(k, dtype=float)
    found = bootstrap_maximum(values, np.random.default_rng(0))
    assert found.high == values.max()
    assert share == pytest.approx(1 - (1 - 1 / k) ** k, abs=1e-4)
    generator = np.random.default_rng(0)
    assert (generator.choice(values, size=(10_000, k)).max(axis=1) == values.max()).mean() == pytest.approx(
        share, abs=0.02
    )


@pytest.mark.parametrize(("k", "biased", "true"), [(2, 0.27, 0.56), (4, 0.76, 1.03), (8, 1.20, 1.42)])
def test_mean_underestimates_the_expected_maximum(k: int, biased: float, true: float) -> None:
    generator = np.random.default_rng(0)
    samples = [generator.normal(size=k) for _ in range(1500)]
    assert np.mean([bootstrap_maximum(values, generator, resamples=50).value for values in samples]) == pytest.approx(
        biased, abs=0.06
    )
    assert np.mean([values.max() for values in samples]) == pytest.approx(true, abs=0.06)


def test_too_few_values_have_no_interval() -> None:
    assert math.isnan(bootstrap_maximum([1.0], np.random.default_rng(0)).low)
    assert math.isnan(bootstrap_maximum([], np.random.default_rng(0)).value)
