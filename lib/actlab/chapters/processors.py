"""The figure of one trial on two kinds of processor."""

from __future__ import annotations

from math import nan

from matplotlib.figure import Figure

from actlab.figures.primitives import points
from actlab.records.processors import Twin, by_arm
from actlab.statistics.estimate import Estimate

NOWHERE = 1e-10
"""Where a difference of 0 is drawn, on an axis that has no place for it."""


def figure(found: list[Twin]) -> Figure:
    """A panel a model, on a logarithmic axis: how far every trial's losses lie apart between two processors (small
    marks), and those of two seeds."""
    singles = {(m, a, a): [max(twin.apart, NOWHERE) for twin in cell] for (m, a), cell in by_arm(found).items()}
    seeds = {
        (m, a, a): Estimate(cell[0].between_seeds, nan, nan, len(cell), 0.95, "mean over pairs of seeds")
        for (m, a), cell in by_arm(found).items()
    }
    return points(seeds, "losses apart (nats); 1e-10 stands for 0", singles=singles, log=True)
