"""Feed-forward networks on images, ReLU against GeGLU: figures, the cells that each wins by learning rate, and the
sentences of the sweep."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from matplotlib.figure import Figure

from actlab.chapters.template import frame
from actlab.figures.primitives import line, lines, points
from actlab.records import mnist, store
from actlab.records.labels import METRICS, words
from actlab.records.mnist import Sweep, gains, over_epochs, tested
from actlab.records.tables import levels
from actlab.records.wording import signed
from actlab.statistics.significance import signs

CAPTION = (
    "Validation accuracy minus ReLU's, paired by seed, with unadjusted 95% intervals: at small rates GeGLU is better "
    "at equal width; at equal parameters it is worse in half of all settings"
)


def read(records: Iterable[store.Record], longer: Iterable[str] = ()) -> Sweep:
    """The sweep of these records, with the longer trainings of other studies."""
    return mnist.read(records, [record for study in longer for record in store.load_study(study)])


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
    found = {("", words(network)): line(by) for network, by in over_epochs(sweep).items() if by}
    return lines(found, "epochs", METRICS["val_accuracy"].label, kind="bars", log=True, height=2.8)


def table(sweep: Sweep) -> pd.DataFrame:
    """One row a learning rate: the cells in which each network is significantly better and worse than ReLU (Holm over
    all), and the trials that give one class to every image."""
    found, rows = tested(sweep), {}
    for rate in levels(sweep.trials, "learning_rate"):
        row = {}
        for network, cells in found.items():
            here = {cell: test for cell, test in cells.items() if cell[1] == rate}
            better, worse = signs(here)
            row[words(network)] = f"better in {better}, worse in {worse} of {len(here)}"
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
        "mnist_cell": f"One setting: {hidden} hidden units, rate {rate:g}, batch {batch}",
    }
    for network, cells in tested(sweep).items():
        better, worse = signs(cells)
        found[f"mnist_{network.removeprefix('geglu_')}"] = (
            f"{words(network).replace(', ', ' at ')} is significantly better than ReLU in {better} and worse in "
            f"{worse} of {len(cells)} settings of width, rate and batch (Holm-adjusted)"
        )
    last = {network: e[max(e)] for network in sweep.networks if (e := gains(sweep, network, hidden))}
    risen = min(last, key=lambda network: last[network].value, default="")
    found["mnist_epochs"] = (
        f"More epochs raise the accuracy of every network, least that of {words(risen)}: by "
        f"{signed(last[risen], 1)} points"
        if risen and all(e.low > 0 for e in last.values())
        else "Accuracy against the number of epochs"
    )
    return found
