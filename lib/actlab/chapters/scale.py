"""The figure of size and sensitivity."""

from __future__ import annotations

from matplotlib.figure import Figure

from actlab.figures.primitives import Line, line, lines
from actlab.records.scale import Sizes, comparisons, parameters, share
from actlab.statistics.estimate import Estimate

LOSS, SHARE = "loss minus relu's (nats)", "share of the loss's variance between activations"


def figure(sizes: Sizes) -> Figure:
    """Against the number of parameters: each activation's loss minus relu's, and the share of the loss's variance that
    lies between activations."""
    by_activation: dict[str, dict[float, Estimate]] = {}
    for grid, activation, estimate, _ in comparisons(sizes):
        by_activation.setdefault(activation, {})[float(parameters(grid))] = estimate
    found: dict[tuple[str, str], Line] = {(LOSS, activation): line(e) for activation, e in by_activation.items()}
    shares = {parameters(grid): share(grid) for grid in sizes.grids if len(grid.arms) > 1}
    if shares:
        found[SHARE, "all activations"] = line(shares)
    return lines(found, "parameters", "", bars=True, zero=True, log="x", columns=2, share=False, height=2.8)
