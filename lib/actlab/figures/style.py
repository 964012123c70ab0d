"""One look for every figure: sizes, fonts, and a colour, marker and line pattern for each activation, model and arm; a
figure as a page shows it, with its caption and the numbers that it draws."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from io import BytesIO
from itertools import cycle
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actlab.files import read_yaml
from actlab.records.labels import WORDS

Look = tuple[str, str, list[int]]
_LOOKS = read_yaml(Path(__file__).with_name("look.yaml"))
OWN: list[Look] = _LOOKS.pop("own")
"""Looks of a user's own levels: colour, marker, dashes."""
LOOK: dict[str, Look] = _LOOKS
"""Name -> its look."""
NAMES = {said: name for name, said in WORDS.items()}
"""What a level is called in figures -> its name."""
GREY = "#666666"
NO_RECORD = "no record yet"
KEPT: WeakKeyDictionary[Figure, str] = WeakKeyDictionary()
"""What a figure draws, as rows of CSV, so that a page can offer the numbers below the picture."""


def known(name: str) -> str:
    """Return the name in ``LOOK`` that a label means (``random PReLU``, ``gelu, symmetric``), or an empty one."""
    name = NAMES.get(name, name)
    whole, first = (text.lower().replace(", ", "_").replace(" ", "_") for text in (name, name.partition(",")[0]))
    return next((key for key in (whole, first) if key in LOOK), "")


def looks(names: Iterable[str]) -> dict[str, Look]:
    """Return colour, marker and dashes of each name: fixed for the studies' own; up to twelve others are told apart."""
    own = cycle(OWN)
    return {name: LOOK.get(known(name)) or next(own) for name in dict.fromkeys(names)}


def look(name: str) -> Look:
    """Return the look of one name."""
    return looks([name])[name]


styled = partial(mpl.rc_context, fname=Path(__file__).with_name("house.mplstyle"))
"""Everything drawn inside has the house style."""


def canvas(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Make a figure outside pyplot's global state, ``width`` x ``height`` inches, and its axes row by row; it is called
    inside ``styled``."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def legend(figure: Figure, panels: list[Axes], columns: int = 4) -> None:
    """Put one legend above all panels: each label once; none where nothing has a label."""
    entries: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, handles, strict=True))
    if entries:
        figure.legend([*entries.values()], [*entries], loc="outside upper center", ncols=columns)


def words_alone() -> Figure:
    """Draw words in place of a figure for which there are no records."""
    with styled():
        figure, (axes,) = canvas(1, 1, 5.0, 1.0)
        axes.text(0.5, 0.5, NO_RECORD, transform=axes.transAxes, ha="center", va="center")
        axes.set_axis_off()
    return figure


def keep(figure: Figure, rows: pd.DataFrame | Iterable[Mapping[str, Any]]) -> Figure:
    """Return the figure, with the rows that it draws kept; columns that are empty in all of them are left out."""
    table = pd.DataFrame(rows, dtype=object).dropna(axis=1, how="all")
    KEPT[figure] = table.to_csv(index=False)
    return figure


def image(figure: Figure, ending: str = "svg") -> bytes:
    """Return the figure as the content of a file of that ending; the same figure gives the same SVG."""
    out = BytesIO()
    with styled():
        metadata = {"Date": None, "Creator": None} if ending == "svg" else None
        figure.savefig(out, format=ending, metadata=metadata)
    return out.getvalue()


def as_html(figure: Figure, caption: str) -> str:
    """Return the figure with its caption, which is also its alternative text: what it shows, in words."""
    words = escape(caption[:1].upper() + caption[1:])
    source, rows = (b64encode(part).decode() for part in (image(figure), KEPT.get(figure, "").encode()))
    picture = f'<img src="data:image/svg+xml;base64,{source}" alt="{words}" data-csv="{rows}">'
    return f'<figure>{picture}<figcaption><span class="caption-text">{words}</span></figcaption></figure>'


@dataclass(frozen=True)
class Shown:
    """A figure as a notebook keeps it: as HTML, and as an image for what shows no HTML (GitHub, a PDF)."""

    figure: Figure
    caption: str

    def _repr_html_(self) -> str:
        return as_html(self.figure, self.caption)

    def _repr_png_(self) -> bytes:
        return image(self.figure, "png")

    def __repr__(self) -> str:
        return self.caption


show = Shown
"""What a notebook's cell ends with."""
