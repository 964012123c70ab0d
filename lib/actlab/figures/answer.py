"""Figures of the confirmatory study: differences from relu with intervals, and total variation against the loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actlab.figures.primitives import Line, lines, points
from actlab.figures.style import GREY, canvas, look, outlined, styled
from actlab.records.answer import METRIC
from actlab.records.remedies import AVERAGED, FALLING, Remedy
from actlab.statistics.equal_loss import Curves, EqualLoss
from actlab.statistics.significance import ALPHA, Cells, Test

LOSS = "mean validation loss (nats per character); training goes to the right"
PANELS = ("seeds", "rounding")
"""Of the front page's figure."""
VARIATION = "mean total variation between seeds\n(lower: more reproducible)"


def differences(cells: Cells, label: str, margin: float = 0.0, **more: Any) -> Figure:
    """``side_by_side`` of one study; ``more``: as for ``points``."""
    return side_by_side({(model, a, a): test for (model, a), test in cells.items()}, label, margin, 0.0, **more)


def against_loss(arms: Mapping[str, Mapping[str, Curves]], levels: Mapping[str, EqualLoss]) -> Figure:
    """Mean total variation between seeds against mean validation loss through training, a panel a model, a line an
    activation; the dotted line is the loss at which they are compared."""
    found = {(model, a): Line(*one.means()) for model, curves in arms.items() for a, one in curves.items()}
    figure = lines(found, LOSS, VARIATION, share=False, columns=2, height=2.9)
    for axes, level in zip(figure.axes, levels.values(), strict=False):  # without records the figure is words alone
        axes.axvline(level.loss, color=GREY, linestyle=":", linewidth=0.8)
        axes.invert_xaxis()
    return figure


def side_by_side(
    cells: Mapping[tuple[str, str, str], Test], label: str, margin: float, height: float = 1.6, **more: Any
) -> Figure:
    """A panel a model, a row an activation, a mark a study, filled where significant after the correction of the
    study's own family; the band is the margin of equivalence."""
    hollow = [key for key, (_, p) in cells.items() if not p < ALPHA]
    found = {key: e for key, (e, _) in cells.items()}
    return points(found, label, hollow=hollow, zero=True, margin=margin, height=height, **more)


def remedies(found: Mapping[tuple[str, str], Mapping[str, Remedy]]) -> Figure:
    """A panel a model and activation: one plain network's total variation against its loss through training, and where
    each remedy of the same compute ends (the plain network's end plus the paired differences)."""
    drawn: dict[tuple[str, str], Line] = {}
    for cell, every in found.items():
        for name, remedy in every.items():
            losses, values = remedy.plain.curves(METRIC).means()
            drawn[", ".join(cell), "one network"] = Line(losses, values)
            key = ", ".join(cell), name if name in (AVERAGED, FALLING) else "ensembles"
            before = drawn.get(key, Line([], []))
            x, y = losses[-1] + remedy.loss.value, values[-1] + remedy.variation.value
            drawn[key] = Line([*before.x, x], [*before.y, y])
    hollow = [key for key in drawn if key[1] != "one network"]
    figure = lines(drawn, LOSS, VARIATION, hollow=hollow, share=False)
    for axes in figure.axes:
        axes.invert_xaxis()
    return figure


def lead(
    model: str,
    curves: Mapping[str, Curves],
    level: float,
    floors: Mapping[str, tuple[float, float]],
    panels: Sequence[str] = PANELS,
) -> Figure:
    """The front page's: total variation between seeds while they learn, and after a perturbation of 1 ULP."""
    with styled():
        figure, axes = canvas(1, len(panels), 4.2 * len(panels), 3.4)
        for name, where in zip(panels, axes, strict=True):
            where.set_ylabel("total variation (lower: more reproducible)")
            if name == PANELS[0]:
                _seeds(where, model, curves, level)
            else:
                _rounding(where, floors)
    return figure


def _rounding(axes: Axes, floors: Mapping[str, tuple[float, float]]) -> None:
    for x, (activation, (floor, seeds)) in enumerate(floors.items()):
        shade, mark, _ = look(activation)
        axes.plot(x, floor, mark, color=shade, markersize=7)
        axes.hlines(seeds, x - 0.3, x + 0.3, color=shade, linestyle="--", linewidth=1.2)
        if not x:
            outlined(axes, "another seed", (-0.3, seeds * 0.45), fontsize=7)
    axes.set_yscale("log")
    axes.set_xticks(range(len(floors)), list(floors), rotation=25, fontsize=8)
    axes.annotate("the same seed after 1 ULP (charlm)", (0, 1.02), xycoords="axes fraction")


def _seeds(axes: Axes, model: str, arms: Mapping[str, Curves], level: float) -> None:
    axes.annotate(f"another seed ({model})", (0, 1.02), xycoords="axes fraction")
    axes.set_xlabel("validation loss (nats); training goes to the right")
    axes.axvline(level, color=GREY, linestyle=":", linewidth=0.8)
    outlined(axes, "compared at\nequal loss", (level, 0.04), xycoords=axes.get_xaxis_transform(), fontsize=7)
    ends: list[tuple[float, str]] = []
    for activation, curves in arms.items():
        losses, values = curves.means()
        shade, mark, dashes = look(activation)
        axes.plot(losses, values, markersize=3, dashes=dashes, color=shade, marker=mark)
        ends.append((float(values[-1]), activation))
    axes.invert_xaxis()
    axes.set_ylim(bottom=0)
    gap, place = 0.06 * axes.get_ylim()[1], 0.0
    for value, activation in sorted(ends):  # names one above another, beside the ends of the lines
        place = max(value, place + gap)
        axes.text(1.01, place, activation, transform=axes.get_yaxis_transform(), color=look(activation)[0], fontsize=8)
