"""The figure of one trial on two kinds of processor."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from actlab.figures.style import canvas, colour, marker, styled, words_alone
from actlab.records.processors import Twin, by_arm

NOWHERE = 1e-10
"""Where a difference of 0 is drawn, on an axis that has no place for it."""


def apart(found: list[Twin]) -> Figure:
    """A panel a model, a column an activation, on a logarithmic axis: every trial's difference of loss between two
    processors; dash: of two seeds."""
    cells = by_arm(found)
    if not cells:
        return words_alone("no trial has been trained on two kinds of processor yet")
    models = list(dict.fromkeys(model for model, _ in cells))
    across = min(3, len(models))
    with styled():
        figure, panels = canvas(
            -(-len(models) // across), across, width=8.0, height=0.6 + 2.4 * -(-len(models) // across)
        )
        for axes, model in zip(panels, models, strict=False):
            mine = {activation: cell for (name, activation), cell in cells.items() if name == model}
            for x, (activation, cell) in enumerate(mine.items()):
                values = [max(twin.apart, NOWHERE) for twin in cell]
                places = x + 0.08 * (np.arange(len(values)) - (len(values) - 1) / 2)
                axes.plot(places, values, marker(activation), color=colour(activation), markerfacecolor="none")
                axes.plot(x, cell[0].between_seeds, "_", color=colour(activation), markersize=16)
            axes.set_yscale("log")
            axes.set_ylim(NOWHERE / 3, 1)
            axes.set_yticks([NOWHERE, 1e-8, 1e-6, 1e-4, 1e-2, 1], ["0", "1e-8", "1e-6", "1e-4", "0.01", "1"])
            axes.minorticks_off()
            axes.set_xlim(-0.6, len(mine) - 0.4)
            axes.set_xticks(range(len(mine)), list(mine), rotation=30, ha="right", fontsize=8)
            axes.annotate(model, (0.98, 0.03), xycoords="axes fraction", ha="right", va="bottom", fontsize=9)
            axes.grid(axis="x", visible=False)
        for axes in panels[len(models) :]:
            axes.set_axis_off()
        figure.supylabel("losses apart (nats)", fontsize=10)
    return figure
