"""Checks of typed numbers: what holds passes, what does not stops with what the page says and what was found."""

import numpy as np
import pandas as pd
import pytest

from actlab import holds
from actlab.checks import agrees, failures
from actlab.errors import NotHeld


@pytest.mark.parametrize("fact", [True, np.float64(1) > 0, pd.Series([0.0641]).sub(0.064).abs().lt(5e-4).all()])
def test_what_is_true_holds(fact):
    """A truth value of Python, NumPy or pandas."""
    assert holds(fact, "it is so") is None


@pytest.mark.parametrize("fact", [False, np.bool_(False), float("nan"), None, pd.Series([True, True]), 0.064])
def test_what_is_not_stops(fact):
    """A Series is no single fact, a number a forgotten comparison; with the statement, as an assertion."""
    with pytest.raises(NotHeld, match=r"do not hold 'lower by 6' \(found (?s:.*)\)") as caught:
        holds(fact, "lower by 6")
    assert isinstance(caught.value, AssertionError)


@pytest.mark.parametrize(
    ("found", "typed", "digits"),
    [
        (0.0641, 0.064, 3),
        (2366, 2400, -2),
        (pd.Series([0.19, 0.21]), [0.2, 0.2], 1),
        ({"lower": 3}, {"lower": 3}, None),
    ],
)
def test_what_agrees_with_the_page(found, typed, digits):
    """Rounded as the page rounds it; or equal."""
    assert agrees(found, typed, "it is so", digits) is None


@pytest.mark.parametrize(
    ("found", "typed", "digits", "said"),
    [
        (0.0651, 0.064, 3, "the page says 0.064, the records say 0.065"),
        (float("nan"), 0.064, 3, "the records say nan"),
        ([0.1], [0.1, 0.2], 1, r"the page says \[0.1, 0.2\], the records say \[0.1\]"),
    ],
)
def test_what_differs_is_told_with_both_values(found, typed, digits, said):
    """A missing number agrees with nothing."""
    with pytest.raises(NotHeld, match=f"'lower by so much': .*{said}"):
        agrees(found, typed, "lower by so much", digits)


CHECKS = """
from actlab import holds
def check_seeds(seeds): holds(seeds == 5, 'five seeds')
def check_loss(loss): holds(loss['relu'] < 2, 'a loss below 2')
"""


def test_every_check_that_fails_is_told(tmp_path):
    """Each gets the page's variables that its parameters name; a table of other records ends no build."""
    file = tmp_path / "tiny.py"
    file.write_text(CHECKS)
    assert failures(file, {"seeds": 5, "loss": {"relu": 1.5}, "other": None}) == []
    first, second = failures(file, {"seeds": 4, "loss": {}})
    assert first == "the records do not hold 'five seeds' (found False)"
    assert second == "check_loss raises KeyError: 'relu'"
