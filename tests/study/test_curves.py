"""The curves of the activations' picture are what the modules compute."""

from __future__ import annotations

import numpy as np
import pytest

from actlab.activations import ACTIVATIONS
from actlab.study.curves import curves


def test_known_values() -> None:
    """relu(-1) = 0; SmeLU_1(0) = 1/4; a gated activation is drawn as its gate."""
    drawn = curves()
    assert set(drawn) == set(ACTIVATIONS)
    assert drawn["relu"][1][200] == 0
    assert drawn["smelu_1"][1][300] == pytest.approx(0.25)
    assert np.array_equal(drawn["swiglu"][1], drawn["swish"][1])
