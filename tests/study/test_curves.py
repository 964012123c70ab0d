"""The curves of the activations' picture are what the modules compute."""

from __future__ import annotations

import numpy as np
import pytest

from actlab.activations import ACTIVATIONS
from actlab.study.curves import curves


def test_slope_is_the_derivative_of_the_value(subtests: pytest.Subtests) -> None:
    """Away from corners, finite differences agree with the drawn slope."""
    for name in [name for name in ACTIVATIONS if name != "step"]:
        with subtests.test(name=name):
            x, value, slope = curves([name])[name]
            assert x.shape == value.shape == slope.shape == (601,)
            smooth = np.abs(np.abs(x[1:-1]) - 0.75) < 0.2
            assert np.allclose(np.gradient(value, x)[1:-1][smooth], slope[1:-1][smooth], atol=2e-2)


def test_known_values() -> None:
    """relu(-1) = 0; SmeLU_1(0) = 1/4; a gated activation is drawn as its gate."""
    drawn = curves()
    assert set(drawn) == set(ACTIVATIONS)
    assert drawn["relu"][1][200] == 0
    assert drawn["smelu_1"][1][300] == pytest.approx(0.25)
    assert np.array_equal(drawn["swiglu"][1], drawn["swish"][1])


def test_step_is_drawn_with_the_slope_that_trains_it() -> None:
    """Straight through: 1 up to a distance of 1 from the step, 0 beyond."""
    x, value, slope = curves(["step"])["step"]
    assert value.tolist() == (x > 0).tolist()
    assert slope.tolist() == (np.abs(x) <= 1).tolist()
