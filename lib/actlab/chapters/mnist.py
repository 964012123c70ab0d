"""Feed-forward networks on images: figures, the collapsed trials and the sentences of the sweep."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from actlab.figures.primitives import Line, line, lines, points
from actlab.figures.style import NO_RECORD
from actlab.records.estimates import ALPHA, adjusted
from actlab.records.mnist import (
    LABELS,
    PUBLISHED_BATCH,
    PUBLISHED_HIDDEN,
    PUBLISHED_RATE,
    Sweep,
    best_curves,
    by_width,
    differences,
    optimism,
    over_epochs,
    words,
)
from actlab.records.wording import bullets, signed

SILENT = 1e-4
"""A validation loss this near to ln 10 means that the network answers all ten classes alike, whatever the image."""
DEAD = f"loss within {SILENT:.4f} of ln 10"
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


def sentences(sweep: Sweep) -> dict[str, str]:
    """Name -> sentence with numbers from the records."""
    if not len(sweep.trials):
        names = ("mnist_extent", "mnist_equal_width", "mnist_equal_parameters", "mnist_optimism")
        return dict.fromkeys(names, NO_RECORD.capitalize())
    t = sweep.trials
    dead, collapsed = _dead(t), t["collapsed"].astype(bool)
    lost = (
        f"{collapsed.sum()} collapsed to one class, {dead.sum()} are dead ({DEAD}), {(dead & collapsed).sum()} are both"
    )
    diverged = (t["status"] == "diverged").sum()
    found = {"mnist_extent": f"{len(t)} networks were trained, {diverged} diverged, {lost}"}
    if sweep.cell != (PUBLISHED_HIDDEN, PUBLISHED_RATE, PUBLISHED_BATCH):
        hidden, rate, batch = sweep.cell
        found["mnist_cell"] = (
            f"Where one cell is shown it is hidden {hidden}, rate {rate:g}, batch {batch}: the published ones are "
            "not recorded here"
        )
    for network in sweep.networks:
        if network != "relu" and "relu" in sweep.networks:
            found[f"mnist_{network.removeprefix('geglu_')}"] = _against_relu(sweep, network)
    found["mnist_optimism"] = (
        f"The rate and batch that look best on the validation images are {signed(optimism(sweep), 2)} points better "
        "there than on the test images"
    )
    return found


def _against_relu(sweep: Sweep, network: str) -> str:
    found = adjusted(differences(sweep, network)).values()
    better, worse = (sum(p < ALPHA and sign * e.value > 0 for e, p in found) for sign in (1, -1))
    name = network.replace("_", " ").replace("geglu", "GeGLU at")
    return (
        f"{name} is better than ReLU in {better} and worse in {worse} of {len(found)} cells of width, rate and "
        "batch (Holm, 5%)"
    )


def listed(sweep: Sweep) -> Any:
    """The sentences as a bulleted list for a notebook."""
    return bullets(sentences(sweep).values())


def collapses(sweep: Sweep) -> pd.DataFrame:
    """By network and rate: trials that give one class to every validation image, and those whose output is dead (all
    classes alike)."""
    t = sweep.trials.assign(dead=_dead(sweep.trials))
    table = t.groupby(["network", "rate"]).agg(
        trials=("seed", "size"), one_class=("collapsed", "sum"), dead=("dead", "sum")
    )
    table = table.reindex(sweep.networks, level="network")
    shown = [(words(network), f"{rate:g}") for network, rate in table.index]
    table.index = pd.MultiIndex.from_tuples(shown, names=["", "rate"])
    return table.rename(columns={"one_class": "one class for every image", "dead": f"dead ({DEAD})"})


def _dead(trials: pd.DataFrame) -> pd.Series[bool]:
    """Which trials answer all classes alike."""
    return (trials["val_loss"] - math.log(10)).abs() < SILENT
