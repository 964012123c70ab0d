"""Figures of the feed-forward networks on images."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from actlab.figures.primitives import Line, line, lines, points
from actlab.records.mnist import LABELS, Sweep, best_curves, by_width, differences, over_epochs, words

ACCURACY = LABELS["val_accuracy"]
BAND_ENDS = 16
"""A fifth of an arm's 80 trials: with more draws the best hangs on a few of them, and its interval widens without
meaning."""


def figure_differences(sweep: Sweep) -> Figure:
    """Accuracy minus ReLU's, paired by seed: a panel a network and batch size, a column a learning rate, a mark a
    width."""
    found = {
        (f"{words(network)}, batch {batch}", f"{rate:g}", str(hidden)): estimate
        for network in sweep.networks
        if network != "relu"
        for (hidden, rate, batch), estimate in differences(sweep, network).items()
    }
    label = "accuracy minus ReLU's (percentage points)\nby learning rate; colours: hidden units"
    return points(found, label, upright=True, zero=True, columns=2)


def figure_widths(sweep: Sweep) -> Figure:
    """Accuracy against the hidden units of the plain network, at the published rate and batch."""
    found = {("", words(network)): line(by_hidden) for network, by_hidden in by_width(sweep).items()}
    return lines(found, "hidden units of the plain network", ACCURACY, bars=True, log="x", height=2.8)


def figure_epochs(sweep: Sweep) -> Figure:
    """Accuracy against the number of epochs."""
    found = {("", words(network)): line(by_epochs) for network, by_epochs in over_epochs(sweep).items() if by_epochs}
    return lines(found, "epochs", ACCURACY, bars=True, log="x", height=2.8)


def figure_search(sweep: Sweep, seed: int = 0, largest: int = 64) -> Figure:
    """Expected best accuracy of a random search of k draws; bands are 95% intervals, up to k = ``BAND_ENDS``."""
    found = {}
    for network, estimates in best_curves(sweep, np.random.default_rng(seed), ks=range(1, largest + 1)).items():
        made = line(dict(enumerate(estimates, 1)))
        known = [k <= BAND_ENDS for k in made.x]
        low, high = (
            [v if k else y for v, k, y in zip(ends or [], known, made.y, strict=True)] for ends in (made.low, made.high)
        )
        found["", words(network)] = Line(made.x, made.y, low, [min(v, 100) for v in high])
    return lines(found, "budget k of the random search", f"expected best {ACCURACY}", log="x", height=2.8)
