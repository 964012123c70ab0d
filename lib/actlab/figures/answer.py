"""Figures of the confirmatory study: differences from relu with intervals, and total variation against the loss."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actlab.figures.style import canvas, colour, dashes, marker, styled, words_alone
from actlab.statistics.equal_loss import Curves, EqualLoss
from actlab.statistics.estimate import Estimate

NO_RECORD = "no record yet"
Cells = Mapping[tuple[str, str], tuple[Estimate, float]]
"""(model, activation) -> its difference from the reference, and its adjusted p-value."""


def differences(cells: Cells, label: str, margin: float = 0.0, alpha: float = 0.05) -> Figure:
    """A panel a model, a row an activation: a filled mark is significant after the family's correction; the band is the
    margin of equivalence."""
    models = list(dict.fromkeys(model for model, _ in cells))
    if not models:
        return words_alone(NO_RECORD)
    with styled():
        rows = -(-len(models) // 3)
        figure, panels = canvas(rows, min(3, len(models)), width=7.6, height=0.7 + 1.6 * rows)
        for axes, model in zip(panels, models, strict=False):
            mine = {a: found for (m, a), found in cells.items() if m == model}
            for y, (activation, (found, p)) in enumerate(mine.items()):
                face = colour(activation) if p < alpha else "white"
                axes.plot([found.low, found.high], [y, y], color=colour(activation))
                axes.plot(found.value, y, marker(activation), color=colour(activation), markerfacecolor=face, ms=6)
            axes.axvline(0, color="#333333", linewidth=0.8)
            if margin:
                axes.axvspan(-margin, margin, color="#888888", alpha=0.15, linewidth=0)
            axes.set_yticks(range(len(mine)), list(mine), fontsize=9)
            axes.set_ylim(len(mine) - 0.5, -0.5)
            axes.grid(axis="y", visible=False)
            axes.set_title(model, loc="left")
        for axes in panels[len(models) :]:
            axes.set_visible(False)
        figure.supxlabel(label, fontsize=10)
    return figure


def against_loss(arms: Mapping[str, Mapping[str, Curves]], levels: Mapping[str, EqualLoss]) -> Figure:
    """Mean total variation between seeds against mean validation loss through training, a panel a model, a line an
    activation; the dotted line is the loss at which they are compared."""
    if not arms:
        return words_alone(NO_RECORD)
    with styled():
        rows = -(-len(arms) // 2)
        figure, panels = canvas(rows, min(2, len(arms)), width=7.6, height=0.6 + 2.9 * rows)
        for axes, (model, curves) in zip(panels, arms.items(), strict=False):
            _panel(axes, curves)
            axes.axvline(levels[model].loss, color="#333333", linestyle=":", linewidth=1)
            axes.set_title(model, loc="left")
        for axes in panels[len(arms) :]:
            axes.set_visible(False)
        figure.supxlabel("mean validation loss (nats per character); training goes to the right", fontsize=10)
        figure.supylabel("mean total variation between seeds\n(lower: more reproducible)", fontsize=10)
    return figure


def lead(model: str, curves: Mapping[str, Curves], floors: Mapping[str, tuple[float, float]]) -> Figure:
    """The front page's: total variation between seeds while they learn, and after a perturbation of 1 ULP."""
    with styled():
        figure, (left, right) = canvas(1, 2, width=8.4, height=3.4)
        if curves:
            _panel(left, curves)
        left.set_title(f"another seed{f' ({model})' if model else ''}", loc="left")
        left.set_xlabel("validation loss (nats); training goes to the right")
        left.set_ylabel("total variation (lower: more reproducible)")
        for x, (activation, (floor, seeds)) in enumerate(floors.items()):
            right.plot(x, floor, marker(activation), color=colour(activation), markersize=7)
            right.hlines(seeds, x - 0.3, x + 0.3, color=colour(activation), linestyle="--", linewidth=1.2)
        right.set_yscale("log")
        right.set_xticks(range(len(floors)), list(floors), rotation=25, fontsize=8)
        right.set_title("the same seed, one weight moved by 1 ULP", loc="left")
    return figure


def _panel(axes: Axes, arms: Mapping[str, Curves]) -> None:
    ends: list[tuple[float, str]] = []
    for activation, curves in arms.items():
        losses, values = curves.means()
        mark: Any = {"color": colour(activation), "marker": marker(activation)}
        axes.plot(losses, values, markersize=3, dashes=dashes(activation), **mark)
        ends.append((float(values[-1]), activation))
    axes.invert_xaxis()
    axes.set_ylim(bottom=0)
    gap, place = 0.06 * axes.get_ylim()[1], 0.0
    for value, activation in sorted(ends):  # names one above another, beside the ends of the lines
        place = max(value, place + gap)
        axes.text(1.01, place, activation, transform=axes.get_yaxis_transform(), color=colour(activation), fontsize=8)
