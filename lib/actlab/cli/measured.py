"""What `actlab measure` computes: metrics of pairs, loss and accuracy of runs of any framework, one array a run."""

import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.markup import escape
from scipy.special import softmax

from actlab import metrics
from actlab.cli.options import errors
from actlab.errors import BadInput
from actlab.records.labels import clipped
from actlab.statistics.contrasts import means
from actlab.statistics.estimate import log_limits

Array = NDArray[np.float64]


def measured(files: list[Path], labels: Path | None, logits: bool, own: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """(a row a metric: ``n`` runs, ``estimate``, ``low``, ``high`` (``statistics.means``, inside the metric's range; of
    pairs on a logarithmic scale): metrics of pairs, then loss (nats) and accuracy (%) where there are labels; the runs
    that give a true class the probability 0: the loss is then infinite, and has no interval).

    Raises:
        BadInput: fewer than two runs, an array of another shape, rows that are no probabilities.
    """
    if len(files) < 2 or len({*map(os.path.realpath, files)}) < len(files):
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
    found, zero = means(pairs[~pairs["metric"].str.startswith("churn_")], "value", "metric"), list[str]()
    found["low"], found["high"] = log_limits(found["estimate"], found["low"], found["high"])
    if truth is not None:
        of_runs, zero = scores(arrays, truth.astype(int))
        found = pd.concat([found, of_runs], ignore_index=True)
    ranges = {"accuracy": "val_accuracy", "loss": "val_loss"}
    found = pd.concat([clipped(row, ranges.get(name, name)) for name, row in found.groupby("metric", sort=False)])
    return found[["metric", "n", "estimate", "low", "high"]], zero


def scores(arrays: dict[str, Array], truth: NDArray[np.int64]) -> tuple[pd.DataFrame, list[str]]:
    """(``means`` of the runs' loss and accuracy; the runs that give a true class the probability 0)."""
    right = {name: values[np.arange(len(truth)), truth] for name, values in arrays.items()}
    zero = [f"{name} gives input {(p == 0).argmax()} (from 0)" for name, p in right.items() if not p.all()]
    runs = pd.DataFrame({"seed": list(arrays)})
    with np.errstate(divide="ignore", invalid="ignore"):  # of an infinite loss
        runs["loss"] = [-np.log(p).mean() for p in right.values()]
        runs["accuracy"] = [100 * (values.argmax(axis=1) == truth).mean() for values in arrays.values()]
        return means(runs.melt("seed", var_name="metric"), "value", "metric"), zero


def probabilities(path: Path, logits: bool) -> Array:
    """The predictions of a run, (N, V), as probabilities."""
    values = array_of(path)
    if values.ndim != 2 or not values.size:
        raise BadInput(f"{path}: expected (N, V), one row per input and one column per class, got {values.shape}")
    if not np.isfinite(values).all():
        raise BadInput(f"{path}: expected finite numbers, got {values[~np.isfinite(values)][0]}")
    if logits and (values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-3):
        errors.print(f"[yellow]warning:[/yellow] the rows of {escape(str(path))} are probabilities: leave out --logits")
    return np.asarray(softmax(values, axis=1)) if logits else values


def array_of(path: Path) -> Array:
    """The numbers in a .npy file, as doubles; nothing in it is run."""
    try:
        with path.open("rb") as file:
            return np.asarray(np.lib.format.read_array(file, allow_pickle=False), dtype=np.float64)
    except (OSError, ValueError, EOFError, MemoryError) as error:
        raise BadInput(f"{path} cannot be read as an array of numbers, as numpy.save writes it: {error}") from None
