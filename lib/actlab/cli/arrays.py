"""`actlab measure`: how far the predictions of runs of any framework differ, from one array per run. Trains nothing."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from typer import Argument, Option

from actlab.cli.options import AsJson, Plugins, console, errors, print_json, print_table, rows_of
from actlab.errors import BadInput

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

app = typer.Typer()


@app.command()
def measure(
    runs: Annotated[list[Path], Argument(help="One .npy file per run: (N, V), the same N inputs in the same order.")],
    labels: Annotated[Path | None, Option(help="A .npy file of the N true classes, from 0.")] = None,
    logits: Annotated[bool, Option("--logits", help="The files hold logits, not probabilities.")] = False,
    plugin: Plugins = None,
    as_json: AsJson = False,
) -> None:
    """How far two runs of your own model differ on the same inputs, with 95% intervals over runs: arrays of
    probabilities (or logits) of any framework. With labels also loss and accuracy."""
    from actlab.plugins import PARTS, load_plugins
    from actlab.records.tables import COLUMNS

    load_plugins(plugin or ())
    own = [name for kind, name in PARTS if kind == "metric"]
    found = measured(runs, labels, logits, own)
    if zero := found.attrs.get("zero"):
        errors.print(f"loss: infinite, since {zero}", markup=False)
    if as_json:
        print_json(rows_of(found))
        return
    print_table(found)
    console.print(f"n: runs; 95% intervals over runs; of {len(runs) * (len(runs) - 1) // 2} pairs")
    console.print("intervals of pairs are symmetric on a logarithmic scale (actlab.means: on the value's own)")
    for name in found["metric"]:
        if name in COLUMNS:
            console.print(f"{name}: {'; '.join(COLUMNS[name])}")
    if len(runs) < 3:
        console.print("two runs give one pair and no interval: three or more runs do")


def measured(files: list[Path], labels: Path | None, logits: bool, own: list[str]) -> pd.DataFrame:
    """A row a metric: ``n`` runs, ``estimate``, ``low``, ``high`` (``statistics.means``; of pairs on a logarithmic
    scale). Metrics of pairs, then loss (nats) and accuracy (%) where there are labels (``scores``; why a loss is
    infinite: ``attrs["zero"]``).

    Raises:
        BadInput: fewer than two runs, an array of another shape, rows that are no probabilities.
    """
    import pandas as pd

    from actlab import metrics
    from actlab.statistics.contrasts import means
    from actlab.statistics.estimate import log_limits

    if len(files) < 2 or len(set(files)) < len(files):
        raise BadInput(f"expected two runs or more, each once, got {', '.join(map(str, files))}")
    arrays = {str(path): probabilities(path, logits) for path in files}
    truth = None if labels is None else array_of(labels)
    rows = []
    for first, second in combinations(arrays, 2):
        try:
            found = metrics.compare(arrays[first], arrays[second], truth, own)
        except BadInput as error:
            raise BadInput(f"{first} (first) and {second} (second): {error}") from None
        rows.append({"arm": "all", "first": first, "second": second} | found)
    pairs = pd.DataFrame(rows)
    table = pd.concat(
        {name: means(pairs, name, "arm") for name in pairs.columns[3:] if not name.startswith("churn_")},
        names=["metric"],
    )
    table["low"], table["high"] = log_limits(table["estimate"], table["low"], table["high"])
    if truth is not None:
        of_runs, zero = scores(arrays, truth)
        table = pd.concat([table, of_runs])
        table.attrs["zero"] = zero
    return table.reset_index("metric").reset_index(drop=True)[["metric", "n", "estimate", "low", "high"]]


def scores(arrays: dict[str, Array], truth: Array) -> tuple[pd.DataFrame, str]:
    """(loss and accuracy of the runs, by ``metric``; which run gives a true class the probability 0, if one does: the
    loss is then infinite, and has no interval)."""
    import numpy as np
    import pandas as pd

    from actlab.statistics.contrasts import means

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
    table = pd.concat({"loss": loss, "accuracy": accuracy}, names=["metric"])
    return table, f"{' and '.join(zero)} its true class the probability 0" if zero else ""


def probabilities(path: Path, logits: bool) -> Array:
    """The predictions of a run, (N, V), as probabilities."""
    import numpy as np
    from scipy.special import softmax

    values = array_of(path)
    if values.ndim != 2 or not values.size:
        raise BadInput(f"{path}: expected (N, V), one row per input and one column per class, got {values.shape}")
    if not np.isfinite(values).all():
        raise BadInput(f"{path}: expected finite numbers, got {values[~np.isfinite(values)][0]}")
    if logits and (values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-3):
        errors.print(f"[yellow]warning:[/yellow] the rows of {escape(str(path))} are probabilities: leave out --logits")
    found: Array = softmax(values, axis=1) if logits else values
    return found


def array_of(path: Path) -> Array:
    """The numbers in a .npy file, as doubles; nothing in it is run."""
    import numpy as np

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
