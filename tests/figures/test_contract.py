"""One list of properties over every figure: same data same bytes, labelled axes, no titles, and a word where there is
no record."""

from __future__ import annotations

import pytest
from tests.support import drawn

from actlab.figures.style import show

FEW = ("bars", "gains of the ablation", "identical of the autopsy", "by_stream of streams", "widths of the sweep")
EMPTY_BUT_FRAMED = ("bars", "bars of one model", "four panels", "scatter", "floors")
"""These draw an empty frame for a grid without records."""


@pytest.mark.parametrize(
    "names", [FEW, pytest.param(tuple(drawn.full()), marks=pytest.mark.every)], ids=["few", "every"]
)
def test_same_records_same_bytes(names: tuple[str, ...], subtests: pytest.Subtests) -> None:
    """A figure depends on its data alone."""
    for name in names:
        with subtests.test(figure=name):
            assert show(drawn.full()[name]()).data == show(drawn.full()[name]()).data


def test_axes_have_labels_and_no_titles(subtests: pytest.Subtests) -> None:
    """Every figure says what it shows, and leaves the title to its caption."""
    for name, draw in drawn.full().items():
        with subtests.test(figure=name):
            figure = draw()
            assert (
                figure.get_supxlabel()
                + figure.get_supylabel()
                + "".join(axes.get_xlabel() + axes.get_ylabel() for axes in figure.axes)
            )
            assert not any(axes.get_title() for axes in figure.axes)


def test_no_record_says_so(subtests: pytest.Subtests) -> None:
    """An empty study is drawn without an error, and not as a result."""
    for name, draw in drawn.empty().items():
        with subtests.test(figure=name):
            assert "no record yet" in drawn.words(draw()) or name in EMPTY_BUT_FRAMED
