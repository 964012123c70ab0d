"""Figures of the grids show what they are given, with units and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support import grids
from tests.support.drawn import words

from actlab.figures import repro as figures
from actlab.figures.activations import functions_and_slopes
from actlab.figures.style import COLOURS, colour, dashes, marker, show
from actlab.records.repro import read


def test_missing_arm_is_written_out() -> None:
    """An arm without a record is named in the picture, not left blank."""
    assert "not run" in words(figures.bars(grids.grid().only("tinylstm"), "churn"))
    assert "not run" in words(figures.four_panels(grids.grid()))


def test_bars_have_the_estimates_heights_and_intervals() -> None:
    """Bar and error bar are the estimate that the tables print."""
    results = grids.grid().only("charlm")
    (axes,) = figures.bars(results, "churn").axes
    assert [bar.get_height() for bar in axes.patches] == [
        results.arms["charlm", a].estimate("churn").value for a in results.activations
    ]
    low, high = axes.collections[0].get_segments()[0][:, 1]
    estimate = results.arms["charlm", "relu"].shown("churn")
    assert (low, high) == (pytest.approx(estimate.low), pytest.approx(estimate.high))


def test_the_studies_activations_have_colours_of_their_own() -> None:
    """The six activations of the grid are told apart; any other name has a fixed colour too."""
    six = [COLOURS[name] for name in ("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1")]
    assert len(set(six)) == 6
    assert colour("mish") == colour("mish")


def test_activation_panels() -> None:
    """One panel an activation, with its name."""
    x = np.linspace(-3, 3, 7)
    figure = functions_and_slopes({name: (x, x, np.ones(7)) for name in ("identity", "relu")}, columns=5)
    assert "identity" in words(figure)
    assert "relu" in words(figure)


def test_activations_that_coincide_look_different() -> None:
    """Each activation of the grids has a marker and a line of its own, so that two which give the same numbers are both
    seen."""
    names = ("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1", "identity", "squared_relu", "sine", "step")
    assert len({marker(name) for name in names}) == len({dashes(name) for name in names}) == len(names)


def test_curves_of_a_model_share_their_axes() -> None:
    """Training and validation loss are drawn on one scale."""
    figure = figures.curves(grids.grid())
    figure.draw_without_rendering()
    left, right = figure.axes[:2]
    assert (left.get_ylim(), left.get_xlim()) == (right.get_ylim(), right.get_xlim())


def test_floors_of_one_model_name_the_activations() -> None:
    """One model: a place an activation; several: a group a model. No figure shows as nothing."""
    results = grids.grid()
    assert [label.get_text() for label in figures.floors(results.only("charlm")).axes[0].get_xticklabels()] == list(
        results.activations
    )
    assert [label.get_text() for label in figures.floors(results).axes[0].get_xticklabels()] == list(results.models)
    assert show(None) is None


def test_nudges_of_zero_have_no_place_on_a_logarithmic_axis() -> None:
    """A nudge that changed nothing is left out of the picture rather than drawn at a made-up height."""
    results = read([grids.record(), grids.floor(nudge=0.0)])
    heights = np.concatenate([line.get_ydata() for line in figures.floors(results).axes[0].lines])
    assert np.nanmin(heights) > 0
