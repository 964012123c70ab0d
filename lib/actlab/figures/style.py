"""One look for every figure: sizes, fonts, and a colour and marker for each activation, model and optimizer, the same
everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

# Okabe & Ito's eight colours for all kinds of colour vision, then darker variants of them.
COLOURS: dict[str, str] = {
    "relu": "#000000",
    "gelu": "#0072B2",
    "swish": "#009E73",
    "swiglu": "#D55E00",
    "smelu_05": "#CC79A7",
    "smelu_1": "#E69F00",
    "geglu": "#D55E00",
    "prelu": "#56B4E9",
    "random_prelu": "#56B4E9",
    "identity": "#737373",
    "squared_relu": "#8C510A",
    "sine": "#01665E",
    "step": "#7B3294",
    "geglu_equal_width": "#D55E00",
    "geglu_equal_parameters": "#E69F00",
}
_SPARE = ("#8C510A", "#01665E", "#7B3294", "#5E4FA2", "#737373", "#B2182B", "#4D9221")
MARKERS: dict[str, str] = {
    "relu": "o",
    "gelu": "s",
    "swish": "^",
    "swiglu": "D",
    "smelu_05": "v",
    "smelu_1": "P",
    "geglu": "D",
    "prelu": "X",
    "identity": ">",
    "squared_relu": "p",
    "sine": "<",  # leaves a tip of the mark below it to be seen: identity and sine may give the same numbers
    "step": "d",
}
DASHES: dict[str, tuple[int, ...]] = {
    "relu": (),
    "gelu": (5, 2),
    "swish": (1, 1),
    "swiglu": (6, 2, 1, 2),
    "smelu_05": (3, 1),
    "smelu_1": (2, 2),
    "identity": (9, 1),
    "squared_relu": (8, 2, 2, 2),
    "sine": (3, 3),  # the gaps show what lies below
    "step": (1, 2),
}

RC: Any = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "svg.hashsalt": "actlab",  # the same figure gives the same bytes
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.titleweight": "regular",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "lines.markersize": 5,
    "errorbar.capsize": 2.5,
}


def colour(name: str) -> str:
    """The colour of an activation, model or arm: fixed for the studies' own, else chosen by the name."""
    return COLOURS.get(name) or _SPARE[sum(map(ord, name)) % len(_SPARE)]


def marker(name: str) -> str:
    """The marker that goes with ``colour``."""
    return MARKERS.get(name, "o")


def dashes(name: str) -> tuple[int, ...]:
    """The line pattern that goes with ``colour``; a solid line where the name has none."""
    return DASHES.get(name) or (1, 0)


@contextmanager
def styled() -> Iterator[None]:
    """Everything drawn inside has the house style."""
    with mpl.rc_context(RC):
        yield


def canvas(rows: int = 1, columns: int = 1, width: float = 7.0, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """A figure outside pyplot's global state, ``width`` x ``height`` inches, and its axes row by row. Call it inside
    ``styled``."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def outlined(axes: Axes, text: str, *place: Any, **style: Any) -> None:
    """``annotate`` with a white edge, above every line, so that no curve strikes the words through."""
    note = axes.annotate(text, *place, zorder=5, **style)
    note.set_path_effects([withStroke(linewidth=2, foreground="white")])


def words_alone(text: str) -> Figure:
    """In place of a figure for which there are no records."""
    with styled():
        figure, (axes,) = canvas(width=5.0, height=1.0)
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center")
        axes.set_axis_off()
    return figure


def show(figure: Figure | None) -> Any:
    """The figure as a vector image for a notebook; the same figure gives the same bytes. Nothing for none."""
    from IPython.display import SVG

    if figure is None:
        return None
    with styled():
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return SVG(text.getvalue())
