"""What `actlab measure` computes: metrics of pairs, loss and accuracy of runs of any framework, one array a run."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.markup import escape
from scipy.special import softmax

from actlab import metrics
from actlab.cli.shared_options import errors
from actlab.errors import BadInput
from actlab.records.labels import clipped
from actlab.statistics.contrasts import means
from actlab.statistics.estimate import log_limits

Array = NDArray[np.float64]


def measured(files: list[Path], labels: Path | None, logits: bool, own: list[str]) -> pd.DataFrame:
    """Return a row a metric: ``n`` runs, ``estimate``, ``low``, ``high`` (``statistics.means``, inside the metric's
    range; of pairs on a logarithmic scale): metrics of pairs, then loss (nats) and accuracy (%) where there are labels.
    A run that gives a true class the probability 0 has an infinite loss.

    Raises:
        BadInput: fewer than two runs, an array of another shape, rows that are no probabilities.
    """
    if len(files) < 2 or len({*files}) < len(files):
        raise BadInput(f"expected two runs or more, each once, got {', '.join(map(str, files))}")
    arrays = {str(path): probabilities(path, logits) for path in files}
    truth = None if labels is None else array_of(labels)
    rows = []
    for first, second in combinations(arrays, 2):
        try:
            distances = metrics.compare(arrays[first], arrays[second], truth, own)
        except BadInput as error:
            raise BadInput(f"{first} (first) and {second} (second): {error}") from None
        rows.append({"first": first, "second": second} | distances)
    pairs = pd.DataFrame(rows).melt(["first", "second"], var_name="metric")
    table = means(pairs[~pairs["metric"].str.startswith("churn_")], "value", "metric")
    table["low"], table["high"] = log_limits(table["estimate"], table["low"], table["high"])
    if truth is not None:
        table = pd.concat([table, scores(arrays, truth.astype(int))])
    table = pd.concat([clipped(row, str(name)) for name, row in table.groupby("metric", sort=False)])
    return table[["metric", "n", "estimate", "low", "high"]]


def scores(arrays: dict[str, Array], truth: NDArray[np.int64]) -> pd.DataFrame:
    """Return the ``means`` of the runs' loss and accuracy."""
    runs = pd.DataFrame({"seed": list(arrays)})
    with np.errstate(divide="ignore", invalid="ignore"):  # of an infinite loss
        runs["loss"] = [-np.log(values[np.arange(len(truth)), truth]).mean() for values in arrays.values()]
        runs["accuracy"] = [100 * (values.argmax(axis=1) == truth).mean() for values in arrays.values()]
        return means(runs.melt("seed", var_name="metric"), "value", "metric")


def probabilities(path: Path, logits: bool) -> Array:
    """Read the predictions of a run, (N, V), as probabilities."""
    values = array_of(path)
    if not np.isfinite(values).all():
        raise BadInput(f"{path}: expected finite numbers, got {values[~np.isfinite(values)][0]}")
    if logits and (values >= 0).all() and np.allclose(values.sum(axis=-1), 1, atol=1e-3):
        errors.print(f"[yellow]warning:[/yellow] the rows of {escape(str(path))} are probabilities: leave out --logits")
    return np.asarray(softmax(values, axis=-1)) if logits else values


def array_of(path: Path) -> Array:
    """Read the numbers in a .npy file, as doubles; nothing in it is run."""
    try:
        with path.open("rb") as file:
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False), dtype=np.float64)
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise BadInput(f"{path} cannot be read as an array of numbers, as numpy.save writes it: {error}") from None
