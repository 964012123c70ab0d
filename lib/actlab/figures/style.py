"""One look for every figure: sizes, fonts, and a colour, marker and line pattern for each activation, model and arm; a
figure as a page shows it, with its caption."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from io import BytesIO
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from actlab.figures.data import kept

LOOK: dict[str, tuple[str, str, tuple[int, ...]]] = {
    "relu": ("#000000", "o", (1, 0)),
    "gelu": ("#0072B2", "s", (5, 2)),
    "swish": ("#009E73", "^", (1, 1)),
    "swiglu": ("#D55E00", "D", (6, 2, 1, 2)),
    "smelu_05": ("#CC79A7", "v", (3, 1)),
    "smelu_1": ("#E69F00", "P", (2, 2)),
    "geglu": ("#D55E00", "D", (1, 0)),
    "prelu": ("#56B4E9", "X", (1, 0)),
    "random_prelu": ("#56B4E9", "X", (1, 0)),
    "identity": ("#737373", ">", (9, 1)),
    "squared_relu": ("#8C510A", "p", (8, 2, 2, 2)),
    "sine": ("#01665E", "<", (3, 3)),  # leaves a tip of the mark below it to be seen, and the gaps of the line
    "step": ("#7B3294", "d", (1, 2)),
    "geglu_equal_width": ("#D55E00", "D", (1, 0)),
    "geglu_equal_parameters": ("#E69F00", "s", (1, 0)),
    "another_seed": ("#000000", "o", (1, 0)),
    "one_weight_moved_by_one_ulp": ("#E69F00", "d", (1, 1)),
    "as_published": ("#B2182B", "o", (1, 0)),
    "corrected": ("#0072B2", "D", (1, 0)),
}
"""Name -> colour, marker, dashes. Okabe & Ito's eight colours for all kinds of colour vision, then darker ones."""
SPARE = ("#8C510A", "#01665E", "#7B3294", "#5E4FA2", "#737373", "#B2182B", "#4D9221")
GREY = "#666666"
NO_RECORD = "no record yet"

RC: Any = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "svg.hashsalt": "actlab",  # the same figure gives the same bytes
    "font.size": 10,
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


def known(name: str) -> str:
    """The name in ``LOOK`` that a label means (``random PReLU``, ``gelu, symmetric``); empty for any other label."""
    whole, first = (text.lower().replace(", ", "_").replace(" ", "_") for text in (name, name.partition(",")[0]))
    return next((key for key in (whole, first) if key in LOOK), "")


def look(name: str) -> tuple[str, str, tuple[int, ...]]:
    """Colour, marker and dashes of a name: fixed for the studies' own, else chosen by the name."""
    return LOOK[key] if (key := known(name)) else (SPARE[sum(map(ord, name)) % len(SPARE)], "o", (1, 0))


def colour(name: str) -> str:
    """The colour of an activation, model or arm."""
    return look(name)[0]


def marker(name: str) -> str:
    """The marker that goes with ``colour``."""
    return look(name)[1]


def dashes(name: str) -> tuple[int, ...]:
    """The line pattern that goes with ``colour``."""
    return look(name)[2]


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


def legend(figure: Figure, panels: list[Axes], columns: int = 4) -> None:
    """One legend above all panels: each label once; none where nothing has a label."""
    entries = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if entries:
        figure.legend(
            list(entries.values()), list(entries), loc="outside upper center", ncols=min(columns, len(entries))
        )


def words_alone(text: str = NO_RECORD) -> Figure:
    """In place of a figure for which there are no records."""
    with styled():
        figure, (axes,) = canvas(width=5.0, height=1.0)
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center")
        axes.set_axis_off()
    return figure


def svg(figure: Figure) -> bytes:
    """The figure as a vector image; the same figure gives the same bytes."""
    out = BytesIO()
    with styled():
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()


def as_html(figure: Figure, caption: str, link: str = "") -> str:
    """The figure with its caption, which is also its alternative text: what it shows, in words; ``link``: to the
    explorer in the same state (``chapters.explore.link``)."""
    caption = caption[:1].upper() + caption[1:]
    source, rows = (b64encode(part).decode() for part in (svg(figure), kept(figure).encode()))
    image = f'<img src="data:image/svg+xml;base64,{source}" alt="{escape(caption, quote=True)}" data-csv="{rows}">'
    words = escape(caption) + (f' <a href="{escape(link)}">Explore this</a>' if link else "")
    return f'<figure>{image}<figcaption><span class="caption-text">{words}</span></figcaption></figure>'


def show(figure: Figure, caption: str, link: str = "") -> Any:
    """``as_html`` for a notebook."""
    from IPython.display import HTML

    return HTML(as_html(figure, caption, link))
