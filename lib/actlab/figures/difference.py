"""A picture of what a prediction difference is: two predictions at one position, and the part that they do not
share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from actlab.figures.style import canvas, legend, small, styled

Case = tuple[Sequence[float], Sequence[float]]
RUNS = (("one run", "#5E4FA2", -0.2), ("another run", "#01665E", 0.2))
"""Name, colour, and place beside the character."""


def two_predictions(
    cases: Mapping[str, Case], characters: Sequence[str], values: Mapping[str, Mapping[str, float]]
) -> Figure:
    """One panel a case: both runs' probabilities side by side; hatched is what one has and the other lacks (half of all
    hatching is TV).

    Args:
        cases: name -> probabilities (V,) of one run and of another.
        characters: the V characters.
        values: name of the case -> measure -> its value, written below the panel.
    """
    with styled():
        figure, panels = canvas(1, len(cases), 7.6, 3.0)
        places = np.arange(len(characters))
        for axes, (name, case) in zip(panels, cases.items(), strict=True):
            shared = np.minimum(*case)
            for (run, ink, shift), heights in zip(RUNS, case, strict=True):
                apart: dict[str, Any] = {"facecolor": "none", "edgecolor": ink, "hatch": "////", "linewidth": 0.8}
                axes.bar(places + shift, shared, 0.38, color=ink, alpha=0.75, label=run)
                axes.bar(places + shift, heights - shared, 0.38, bottom=shared, **apart)
            axes.set_xticks(places, list(characters))
            below = [f"{measure} {small(value)}" for measure, value in values[name].items()]
            axes.set(ylim=(0, 1), xlabel="\n".join([name, *below]))
            axes.grid(axis="x", visible=False)
        panels[0].set_ylabel("probability")
        legend(figure, panels)
    return figure
