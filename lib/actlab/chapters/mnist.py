"""Feed-forward networks on images, ReLU against GeGLU: figures, the cells that each wins by learning rate, and the
sentences of the sweep."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters.template import frame
from actlab.figures.primitives import line, lines, points
from actlab.records.estimates import ALPHA
from actlab.records.labels import METRICS, words
from actlab.records.mnist import (
    Sweep,
    Tested,
    gains,
    optimism,
    over_epochs,
    tested,
)
from actlab.records.tables import levels
from actlab.records.wording import signed

CAPTION = (
    "Validation accuracy minus ReLU's, paired by seed, with unadjusted 95% intervals: at small rates GeGLU is better "
    "at equal width, and mostly worse at equal parameters"
)


def figure_differences(sweep: Sweep) -> Figure:
    """Accuracy minus ReLU's, paired by seed: a panel a network and batch size, a row a learning rate, a mark a
    width."""
    found = {
        (f"{words(network)}, batch {batch}", f"{rate:g}", str(hidden)): estimate
        for network, cells in tested(sweep).items()
        for (hidden, rate, batch), (estimate, _) in cells.items()
    }
    label = "accuracy minus ReLU's (percentage points); rows: learning rates, colours: hidden units"
    return points(found, label, zero=True, columns=2, height=1.8)


def figure_epochs(sweep: Sweep) -> Figure:
    """Accuracy against the number of epochs."""
    found = {("", words(network)): line(by_epochs) for network, by_epochs in over_epochs(sweep).items() if by_epochs}
    return lines(found, "epochs", METRICS["val_accuracy"].label, bars=True, log="x", height=2.8)


def _won(found: Tested) -> tuple[int, int]:
    """In how many cells a network is significantly better, and significantly worse, than ReLU."""
    better, worse = (sum(p < ALPHA and sign * e.value > 0 for e, p in found.values()) for sign in (1, -1))
    return better, worse


def table(sweep: Sweep) -> pd.DataFrame:
    """One row a learning rate: the cells in which each network is significantly better and worse than ReLU (Holm over
    all), and the trials that give one class to every image."""
    found, rows = tested(sweep), {}
    for rate in levels(sweep.trials, "learning_rate"):
        row = {}
        for network, cells in found.items():
            here = {cell: test for cell, test in cells.items() if cell[1] == rate}
            better, worse = _won(here)
            row[f"{words(network)}: better, worse"] = f"{better}, {worse} of {len(here)}"
        t = sweep.trials[sweep.trials["learning_rate"] == rate]
        rows[f"rate {rate:g}"] = row | {"collapsed trials": f"{int(t['collapsed'].sum())} of {len(t)}"}
    return frame(rows)


def sentences(sweep: Sweep) -> dict[str, str]:
    """Name -> sentence with numbers from the records."""
    t = sweep.trials
    hidden, rate, batch = sweep.cell
    found = {
        "mnist_extent": f"{len(t)} networks were trained, {int((t['status'] == 'diverged').sum())} diverged and "
        f"{int(t['collapsed'].sum())} collapsed to one class for every image",
        "mnist_cell": f"Where one cell is shown it is hidden {hidden}, rate {rate:g}, batch {batch}",
    }
    for network, cells in tested(sweep).items():
        better, worse = _won(cells)
        found[f"mnist_{network.removeprefix('geglu_')}"] = (
            f"{words(network).replace(', ', ' at ')} is better than ReLU in {better} and worse in {worse} of "
            f"{len(cells)} cells of width, rate and batch (Holm-adjusted)"
        )
    last = {network: max(e.items())[1] for network in sweep.networks if (e := gains(sweep, network, hidden))}
    risen = min(last, key=lambda network: last[network].value, default="")
    found["mnist_epochs"] = (
        f"More epochs raise the accuracy of every network, least that of {words(risen)}: by "
        f"{signed(last[risen], 1)} points"
        if risen and all(e.low > 0 for e in last.values())
        else "Accuracy against the number of epochs"
    )
    found["mnist_optimism"] = (
        f"The rate and batch that look best on the validation images are {signed(optimism(sweep), 2)} points better "
        "there than on the test images"
    )
    return found
