"""The ablation's figures: same data same bytes, labels and no titles, what is missing is written out, and the estimates' own numbers."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure
from tests.support.ablations import made_up, record, records

from actlab import factorial
from actlab.figures import ablation as figures
from actlab.figures.style import show

DRAWINGS = {
    "arms": lambda f: figures.by_arm(factorial.arms(f)),
    "gains": lambda f: figures.gains(factorial.gains(f), factorial.interactions(f)),
    "protocol": lambda f: figures.protocol(factorial.protocol(f)),
    "rates": lambda f: figures.rates(factorial.rates(f)),
    "curves": lambda f: figures.curves(factorial.curves(f, "gelu")),
    "alignment": lambda f: figures.alignment({mode: factorial.alignments(f, "adamw", mode, "gelu") for mode in f.levels("symmetry")}),
}


def words(figure: Figure) -> str:
    figure.draw_without_rendering()
    return " | ".join(t.get_text() for t in figure.findobj(lambda artist: hasattr(artist, "get_text")))


@pytest.mark.parametrize("name", DRAWINGS)
def test_same_figure_same_bytes(name: str) -> None:
    """A figure depends on the records alone."""
    assert show(DRAWINGS[name](made_up())).data == show(DRAWINGS[name](made_up())).data


@pytest.mark.parametrize("name", DRAWINGS)
def test_axes_have_labels_and_no_titles(name: str) -> None:
    """Every axis says what it shows."""
    figure = DRAWINGS[name](made_up())
    assert all(axes.get_ylabel() or name in ("rates", "alignment") for axes in figure.axes)
    assert figure.axes[0].get_ylabel()
    assert not any(axes.get_title() for axes in figure.axes)


@pytest.mark.parametrize("name", [name for name in DRAWINGS if name != "protocol"])
def test_part_of_a_study_is_drawn(name: str) -> None:
    """Missing arms and single seeds are no errors."""
    DRAWINGS[name](factorial.read([*records(("ecd",))[:3], record("adamw", "bQbV", "gelu", seeds=1)])).draw_without_rendering()


@pytest.mark.parametrize("name", [name for name in DRAWINGS if name != "protocol"])
def test_no_record_says_so(name: str) -> None:
    """An empty study gives a picture with a word in it."""
    assert "no record yet" in words(DRAWINGS[name](factorial.read([])))


def test_an_arm_that_is_not_recorded_is_named() -> None:
    """Not a gap without a word."""
    assert "not run" in words(DRAWINGS["arms"](factorial.read(records(("ecd", "adamw"))[:-1])))
    assert "not run" not in words(DRAWINGS["arms"](made_up()))


def test_marks_stand_at_the_estimates() -> None:
    """Points and bars of the gains are the estimates that the sentences print."""
    found = factorial.gains(made_up())
    left = DRAWINGS["gains"](made_up()).axes[0]
    heights = sorted(line.get_ydata()[0] for line in left.lines if len(line.get_ydata()) == 1 and line.get_marker() in ("s", "o"))
    assert heights == pytest.approx(sorted(e.value for e in found.values()))
    segments = [segment for bars in left.collections for segment in bars.get_segments() if len(segment)]
    lows = sorted(segment[:, 1].min() for segment in segments)
    assert lows == pytest.approx(sorted(e.low for e in found.values()))


def test_a_rate_that_throws_training_off_is_written_out() -> None:
    """A loss of 397 nats is a number at the edge, and the other losses keep their scale."""
    lost = record("ecd", "bQbV", "gelu", 10.0)
    for trial in lost["trials"]:
        trial["final"] = trial["final"] | {"val_loss": 397.0}
    figure = DRAWINGS["rates"](factorial.read([*records(("ecd", "adamw")), lost]))
    assert "397" in words(figure)
    assert figure.axes[0].get_ylim()[1] < 10
