"""What is drawn is what was given: values, intervals, what is missing, one legend, same data same bytes, and words that
tell it."""

import re
from html import unescape
from math import nan

import pandas as pd
import pytest

from actlab.figures.plots import curves, forest, heat
from actlab.figures.style import KEPT, LOOK, NO_RECORD, as_html, image, look


def estimate(value):
    return {"value": value, "low": value - 0.1, "high": value + 0.1, "n": 3}


def points(found, label, **look_of):
    """A forest of estimates by (panel, row, series); ``None``: not run."""
    rows = [
        dict(zip(("panel", "place", "series"), key, strict=True))
        | (one or estimate(nan) | {"status": "missing", "n": 0})
        for key, one in found.items()
    ]
    return forest(pd.DataFrame(rows), label, "value", "panel", "place", "series", **look_of)


FOUND = {("charlm", a, a): estimate(i) for i, a in enumerate(("swiglu", "relu", "gelu"))}


def words(figure):
    """Every text in a figure."""
    figure.draw_without_rendering()
    return " | ".join(t.get_text() for t in figure.findobj(lambda artist: hasattr(artist, "get_text")))


def test_points_stand_at_the_estimates():
    """Mark and bar are value and interval, and activations have one order everywhere."""
    (axes,) = points(FOUND, "loss (nats)").axes
    marks = [container.lines[0] for container in axes.containers]
    assert [float(mark.get_xdata()[0]) for mark in marks] == [1, 2, 0]  # relu, gelu, swiglu
    (segment,) = axes.containers[0].lines[2][0].get_segments()
    assert segment[:, 0].tolist() == pytest.approx([0.9, 1.1])
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["ReLU", "GELU", "SwiGLU"]


def test_what_is_missing_or_diverged_is_written_out():
    """Not a gap without a word."""
    found = FOUND | {("charlm", "swish", "swish"): None, ("charlm", "step", "step"): estimate(nan)}
    assert {"not run", "diverged"} <= set(words(points(found, "loss")).split(" | "))
    assert "not run" not in words(points(FOUND, "loss"))


def course(**limits):
    """One line of two points."""
    return pd.DataFrame({"model": "", "activation": "relu", "step": [1, 2], "loss": [2, 3], **limits})


def drawn(table, **how):
    return curves(table, "step", "loss", ("step", "loss"), **how)


def test_lines_have_bands_bars_and_marks():
    """A band is the interval; marks have no line; a line without limits has no band and no bar."""
    made = course(low=[1.9, 2.9], high=[2.1, 3.1])
    (axes,) = drawn(made).axes
    assert axes.collections[0].get_paths()[0].vertices[:, 1].min() == pytest.approx(1.9)
    (axes,) = drawn(made, hollow=[("", "relu")]).axes
    assert axes.lines[0].get_linestyle() == "None"
    (axes,) = drawn(made, kind="bars", log=True).axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "2"]
    assert axes.containers[0].has_yerr
    (axes,) = drawn(course(), kind="bars").axes
    assert not axes.containers[0].has_yerr


def test_one_legend_names_every_series_once():
    """Panels share a legend, axes have labels, and the title is left to the caption."""
    found = {(model, place, a): estimate(1) for model in "ab" for place in "xy" for a in ("relu", "gelu")}
    figure = points(found, "loss (nats)")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["ReLU", "GELU"]
    assert figure.get_supxlabel() == "loss (nats)"
    assert not any(axes.get_title() for axes in figure.axes)


def test_a_heat_map_says_its_cells_in_words_that_stand_out():
    """Dark words on light cells and light ones on dark cells; the numbers are kept."""
    table = pd.DataFrame({"relu": [0.0], "gelu": [0.2]}, index=["charlm"])
    figure = heat(table, "nats", table.map("{:.1f} nats".format))
    inks = {note.get_text(): note.get_color() for note in figure.axes[0].texts}
    assert inks == {"0.0 nats": "white", "0.2 nats": "black"}
    assert KEPT[figure].splitlines() == ["index,relu,gelu", "charlm,0.0,0.2"]


def test_no_record_says_so():
    for figure in (points({}, "x"), drawn(course().head(0))):
        assert NO_RECORD in words(figure)


def test_the_same_data_gives_the_same_bytes_and_the_caption_is_the_alternative_text():
    assert image(points(FOUND, "loss")) == image(points(FOUND, "loss"))
    html = as_html(points(FOUND, "loss"), 'relu "agrees" more')
    alternative, caption = re.search(r'alt="([^"]*)".*caption-text">([^<]*)<', html).groups()
    assert unescape(alternative) == unescape(caption) == 'Relu "agrees" more'


def test_what_is_drawn_is_kept_as_rows():
    """A row a mark, missing estimates too, without columns that are empty; none of other figures."""
    key, missing = ("charlm", "gelu", "gelu"), ("charlm", "relu", "relu")
    rows = KEPT[points({key: estimate(1.0), missing: None}, "loss", singles={key: [0.5]})].splitlines()
    assert rows == ["panel,place,series,value,low,high,n", "charlm,gelu,gelu,1.0,0.9,1.1,3", "charlm,relu,relu,,,,0"]
    assert KEPT[drawn(course())].splitlines() == ["model,activation,step,loss", ",relu,1,2", ",relu,2,3"]


def test_every_known_name_looks_different():
    """The grids' activations are told apart by colour, marker and dashes; a label means its name."""
    six = ("relu", "gelu", "swish", "swiglu", "smelu_05", "smelu_1")
    assert len({look(name)[0] for name in six}) == 6
    names = (*six, "identity", "squared_relu", "sine", "step")
    for kind in (1, 2):
        assert len({str(look(name)[kind]) for name in names}) == len(names)
    assert look("random PReLU, bQ+bV") == LOOK["random_prelu"]
    assert look("GeGLU, equal width") == LOOK["geglu_equal_width"]
