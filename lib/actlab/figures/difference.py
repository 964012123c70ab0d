"""A picture of what a prediction difference is: two predictions at one position, and the part that they do not
share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from actlab.figures.style import canvas, colour, styled

Case = tuple[Sequence[float], Sequence[float]]


def two_predictions(
    cases: Mapping[str, Case], characters: Sequence[str], values: Mapping[str, Mapping[str, float]]
) -> Figure:
    """One panel a case: both trials' probabilities side by side; hatched is what one has and the other lacks (half of
    all hatching is TV).

    Args:
        cases: name -> probabilities (V,) of the first and of the second trial.
        characters: the V characters.
        values: name of the case -> measure -> its value, written below the panel.
    """
    with styled():
        figure, panels = canvas(1, len(cases), width=8.6, height=3.0)
        places = np.arange(len(characters))
        for axes, (name, (first, second)) in zip(panels, cases.items(), strict=True):
            shared = np.minimum(first, second)
            for shift, heights, ink in ((-0.2, first, colour("gelu")), (0.2, second, colour("swiglu"))):
                axes.bar(places + shift, shared, 0.38, color=ink, alpha=0.75)
                axes.bar(
                    places + shift,
                    np.asarray(heights) - shared,
                    0.38,
                    bottom=shared,
                    facecolor="none",
                    edgecolor=ink,
                    hatch="////",
                    linewidth=0.8,
                )
            axes.set_xticks(places, list(characters))
            axes.set(
                ylim=(0, 1),
                xlabel=f"{name}\n"
                + "\n".join(f"{measure} {_digits(value)}" for measure, value in values[name].items()),
            )
            axes.grid(axis="x", visible=False)
        panels[0].set_ylabel("probability")
        for ink, words in ((colour("gelu"), "first trial"), (colour("swiglu"), "second trial")):
            panels[0].bar(0, 0, color=ink, alpha=0.75, label=words)
        figure.legend(loc="outside upper center", ncols=2, fontsize=8)
    return figure


def _digits(value: float) -> str:
    """Three decimals; four where three would read as 0."""
    return f"{value:.3f}" if value == 0 or value >= 0.0005 else f"{value:.4f}"
