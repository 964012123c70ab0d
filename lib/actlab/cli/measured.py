"""What `actlab measure` computes: metrics of pairs, loss and accuracy of runs of any framework, one array a run."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from tokenize import TokenError

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.markup import escape
from scipy.special import softmax

from actlab import metrics
from actlab.cli.options import errors
from actlab.errors import BadInput
from actlab.statistics.contrasts import means
from actlab.statistics.estimate import log_limits

Array = NDArray[np.float64]


def measured(files: list[Path], labels: Path | None, logits: bool, own: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """(a row a metric: ``n`` runs, ``estimate``, ``low``, ``high`` (``statistics.means``; of pairs on a logarithmic
    scale): metrics of pairs, then loss (nats) and accuracy (%) where there are labels; the runs that give a true class
    the probability 0: the loss is then infinite, and has no interval).

    Raises:
        BadInput: fewer than two runs, an array of another shape, rows that are no probabilities.
    """
    if len(files) < 2 or len(set(files)) < len(files):
        raise BadInput(f"expected two runs or more, each once, got {', '.join(map(str, files))}")
    arrays = {str(path): probabilities(path, logits) for path in files}
    truth = None if labels is None else array_of(labels)
    rows = []
    for first, second in combinations(arrays, 2):
        try:
            distances = metrics.compare(arrays[first], arrays[second], truth, own)
        except BadInput as error:
            raise BadInput(f"{first} (first) and {second} (second): {error}") from None
        rows.append({"arm": "all", "first": first, "second": second} | distances)
    pairs, zero = pd.DataFrame(rows), list[str]()
    found = {name: means(pairs, name, "arm") for name in pairs.columns[3:] if not name.startswith("churn_")}
    for one in found.values():
        one["low"], one["high"] = log_limits(one["estimate"], one["low"], one["high"])
    if truth is not None:
        of_runs, zero = scores(arrays, truth)
        found |= of_runs
    table = pd.concat(found, names=["metric"]).reset_index("metric")
    return table[["metric", "n", "estimate", "low", "high"]].reset_index(drop=True), zero


def scores(arrays: dict[str, Array], truth: Array) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """(``means`` of the runs' loss and accuracy; the runs that give a true class the probability 0)."""
    right = {name: values[np.arange(len(truth)), truth.astype(int)] for name, values in arrays.items()}
    zero = [f"{name} gives input {(p == 0).argmax()} (from 0)" for name, p in right.items() if not p.all()]
    hits = [100 * (values.argmax(axis=1) == truth).mean() for values in arrays.values()]
    runs = pd.DataFrame({"arm": "all", "seed": list(arrays), "accuracy": hits})
    accuracy = means(runs, "accuracy", "arm")
    accuracy[["low", "high"]] = accuracy[["low", "high"]].clip(0, 100)
    if zero:
        loss = pd.DataFrame({"n": [len(arrays)], "estimate": math.inf})
    else:
        loss = means(runs.assign(loss=[-np.log(p).mean() for p in right.values()]), "loss", "arm")
    return {"loss": loss, "accuracy": accuracy}, zero


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
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise BadInput(f"{path} is no array: it is not a regular file")
    try:
        with path.open("rb") as file:
            found = np.lib.format.read_array(file, allow_pickle=False)
    except (OSError, ValueError, TypeError, OverflowError, MemoryError, SyntaxError, TokenError) as error:
        raise BadInput(f"{path} cannot be read as an array of numbers, as numpy.save writes it: {error}") from None
    if found.dtype.kind not in "biuf":
        raise BadInput(f"{path}: expected real numbers, got {found.dtype}")
    return found.astype(np.float64)
