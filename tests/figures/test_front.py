"""The report's figure draws every arm against relu."""

from __future__ import annotations

from matplotlib import pyplot as plt
from tests.support import grids

from actlab.figures.front import trade


def test_every_arm_is_drawn_against_relu() -> None:
    """One point with two error bars an arm, in its model's panel."""
    figure = trade(grids.grid())
    drawn = [axes for axes in figure.axes if axes.get_visible()]
    assert [len(axes.containers) for axes in drawn] == [2, 1]
    assert (
        drawn[0].containers[0].lines[0].get_xdata()[0]
        == grids.grid().arms["charlm", "gelu"].minus(grids.grid().arms["charlm", "relu"], "val_loss").value
    )
    plt.close(figure)


def test_without_records_it_says_so() -> None:
    """An empty figure with its reason."""
    figure = trade(None)
    assert figure.get_suptitle() == "no record yet"
    plt.close(figure)
