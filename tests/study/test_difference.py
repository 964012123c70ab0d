"""The page that teaches prediction difference: its cases show what its text says."""

from __future__ import annotations

import pytest

from actlab import paths
from actlab.book.execute import declared
from actlab.errors import BadInput
from actlab.figures.difference import two_predictions
from actlab.figures.style import show
from actlab.study.explore import measures


def test_the_cases_show_what_the_text_says() -> None:
    """Churn is blind to the first case and full in the second, where total variation is small; a rare character has the
    higher relative PD."""
    found = measures(declared(paths.ROOT / "notebooks" / "difference.ipynb")["cases"])
    assert found["the same choice"]["churn"] == 0 < 0.1 < found["the same choice"]["total variation"]
    assert found["nearly a tie"]["churn"] == 1
    assert found["nearly a tie"]["total variation"] < 0.03
    assert found["a rare character"]["relative PD"] > found["the same choice"]["relative PD"]
    assert found["a rare character"]["total variation"] < 0.01


def test_picture_shows_the_values() -> None:
    cases = {"one": ([0.5, 0.5], [0.25, 0.75])}
    assert measures(cases)["one"]["total variation"] == 0.25
    text = show(two_predictions(cases, ["a", "b"], measures(cases))).data
    assert text == show(two_predictions(cases, ["a", "b"], measures(cases))).data


def test_a_small_value_does_not_read_as_zero() -> None:
    """Four decimals where three would be 0.000; what is 0 stays so."""
    figure = two_predictions({"one": ([1.0], [1.0])}, ["a"], {"one": {"tiny": 0.00041, "none": 0.0, "some": 0.0123}})
    assert figure.axes[0].get_xlabel() == "one\ntiny 0.0004\nnone 0.000\nsome 0.012"


@pytest.mark.parametrize("case", [([0.5, 0.4], [0.5, 0.5]), ([1.0], [0.5, 0.5])])
def test_what_is_no_distribution_is_refused(case: tuple[list[float], list[float]]) -> None:
    with pytest.raises(BadInput, match="wrong: expected two probability vectors"):
        measures({"wrong": case})
