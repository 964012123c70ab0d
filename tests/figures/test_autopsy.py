"""Figures of the autopsy and of the sources: labelled, the same bytes twice, and honest about what is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from matplotlib.figure import Figure
from tests.support import autopsies
from tests.test_sources import study

from actlab.autopsy import printed, trained
from actlab.claims import published
from actlab.figures import autopsy as figures
from actlab.figures import sources as stream_figures
from actlab.figures.style import show
from actlab.readings import Evidence
from actlab.sources import Sources

EVIDENCE: dict[str, Callable[[Evidence], Figure]] = {
    "identical": figures.identical,
    "leak": figures.leak,
    "itself": figures.itself,
    "drawn": figures.drawn,
    "trade-off": lambda e: figures.trade_off(trained.points(e)),
    "plateau": figures.plateau,
    "swiglu": figures.swiglu,
    "bars": lambda e: figures.bars(trained.sensitivity_bars(e), 20.26, "CV%"),
}
STREAMS = {f.__name__: f for f in (stream_figures.by_stream, stream_figures.over_time, stream_figures.floors, stream_figures.by_ensemble)}
TEXTS = {
    "last and best": lambda: figures.last_and_best(published.CHARLM_TRIALS, published.CHARLM_BEST),
    "last and best, ours": lambda: figures.last_and_best({"relu": (2.0, 2.1), "gelu": (2.2, 2.1)}, {"relu": (1.9, 1.8), "gelu": (1.7, 1.9)}),
    "sizes": lambda: figures.printed(printed.sizes(), "trainable parameters", logarithmic=True),
    "minutes": lambda: figures.printed(printed.minutes(), "minutes"),
}
ALL: dict[str, Callable[[], Figure]] = {
    **{name: lambda draw=draw: draw(autopsies.evidence()) for name, draw in EVIDENCE.items()},
    **{name: lambda draw=draw: draw(study()) for name, draw in STREAMS.items()},
    **TEXTS,
}


def words(figure: Figure) -> str:
    """Every text in a figure."""
    figure.draw_without_rendering()
    return " | ".join(t.get_text() for t in figure.findobj(lambda artist: hasattr(artist, "get_text")))


@pytest.mark.parametrize("name", ALL)
def test_same_figure_same_bytes_and_no_title(name: str) -> None:
    """A figure depends on its data alone; titles belong to the caption; an axis says what is drawn."""
    figure = ALL[name]()
    assert show(figure).data == show(ALL[name]()).data
    assert not any(axes.get_title() for axes in figure.axes)
    labels = [axes.get_xlabel() + axes.get_ylabel() for axes in figure.axes]
    assert any(labels), labels


@pytest.mark.parametrize("name", EVIDENCE)
def test_without_records_it_says_so(name: str) -> None:
    """An empty figure is not drawn as a result."""
    assert "no record yet" in words(EVIDENCE[name](Evidence()))


@pytest.mark.parametrize("arm", autopsies.evidence().on)
def test_one_arm_alone_can_be_drawn(arm: tuple[str, str]) -> None:
    """While a study is running, its pages are built from what there is."""
    whole = autopsies.evidence()
    for draw in EVIDENCE.values():
        assert draw(replace(whole, on={arm: whole.on[arm]})).axes


@pytest.mark.parametrize("name", STREAMS)
def test_an_empty_study_says_so(name: str) -> None:
    """The same for the streams."""
    assert "no record yet" in words(STREAMS[name](Sources()))


def test_itself_draws_three_readings_an_arm() -> None:
    """Every arm is named, and each reading has its legend."""
    text = words(figures.itself(autopsies.evidence()))
    assert all(f"{model}, {activation}" in text for model, activation in autopsies.evidence().on)
    assert "one model against itself" in text


def test_streams_are_all_named() -> None:
    """Four groups."""
    text = words(stream_figures.by_stream(study())).replace("\n", " ")
    assert all(name in text for name in ("every stream", "initial weights", "order of batches", "dropout masks"))
