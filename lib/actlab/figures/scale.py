"""Figures of size and sensitivity. Intervals are 95%."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from actlab.figures.repro import error_bar
from actlab.figures.style import canvas, colour, dashes, marker, styled, words_alone
from actlab.records.scale import NO_RECORD, REFERENCE, Sizes, comparisons, parameters, share


def sensitivity(sizes: Sizes) -> Figure:
    """Against the number of parameters: each activation's loss less relu's, and the share of the loss's variance
    between activations."""
    if not sizes.grids:
        return words_alone(NO_RECORD)
    with styled():
        figure, (left, right) = canvas(1, 2, width=8.0, height=3.4)
        names = [a for a in sizes.activations if a != REFERENCE]
        for activation in names:
            found = [(parameters(grid), e) for grid, name, e, _ in comparisons(sizes) if name == activation]
            nudge = 1.04 ** (names.index(activation) - (len(names) - 1) / 2)  # side by side, not on top of each other
            style: Any = {
                "color": colour(activation),
                "marker": marker(activation),
                "dashes": dashes(activation),
                "label": activation,
            }
            bars = [[error_bar(e)[side][0] for _, e in found] for side in (0, 1)]
            left.errorbar([x * nudge for x, _ in found], [e.value for _, e in found], bars, **style)
        left.axhline(0, color="#888888", linewidth=0.6)
        left.set_ylabel("validation loss minus relu's (nats)")
        grids = [grid for grid in sizes.grids if len(grid.arms) > 1]
        shares = [share(grid) for grid in grids]
        bars = [[error_bar(e)[side][0] for e in shares] for side in (0, 1)]
        right.errorbar(
            [parameters(grid) for grid in grids], [e.value for e in shares], bars, color="#333333", marker="o"
        )
        right.set_ylim(-0.02, 1.02)
        right.set_ylabel("share between activations")
        for axes in (left, right):
            _sizes_axis(axes, sizes)
        if names:
            figure.legend(loc="outside upper center", ncols=len(names))
    return figure


def _sizes_axis(axes: Axes, sizes: Sizes) -> None:
    axes.set_xscale("log")
    axes.set_xlabel("parameters")
    counts = [parameters(grid) for grid in sizes.grids]
    axes.set_xticks(counts, [f"{count / 1000:,.0f}k" for count in counts])
    axes.minorticks_off()
