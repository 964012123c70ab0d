"""Typed prose held to the records: what holds passes, what does not stops the build with the sentence and its check."""

import numpy as np
import pandas as pd
import pytest

from actlab import holds
from actlab.errors import ActlabError, BadInput, NotHeld


def test_what_is_true_holds():
    """A truth value of Python, NumPy or pandas."""
    for fact in (True, np.float64(1) > 0, pd.Series([0.0641]).sub(0.064).abs().lt(5e-4).all()):
        assert holds(fact, "it is so") is None


@pytest.mark.parametrize("fact", [False, np.bool_(False), float("nan"), None, pd.NA])
def test_what_is_not_stops(fact):
    """With the statement and the line of the check; both as an assertion and as an error of ours."""
    with pytest.raises(
        NotHeld, match=r"do not hold 'lower by 6' \(found .*\): .*holds\(fact, \"lower by 6\"\)"
    ) as caught:
        holds(fact, "lower by 6")
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, ActlabError)


@pytest.mark.parametrize("fact", [pd.Series([True, True]), 0.064, "yes", [True]])
def test_what_is_no_truth_value_is_refused(fact):
    """A Series is no single fact; a number is a forgotten comparison."""
    with pytest.raises(BadInput, match="expected true or false for 'it is so', got"):
        holds(fact, "it is so")
