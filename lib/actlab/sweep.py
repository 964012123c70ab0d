"""The sweep of image classifiers as read from its records: one table, a row a trial. Draws nothing, trains nothing, needs no torch."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from actlab.errors import BadInput
from actlab.store import Record

FACTORS = ("network", "hidden", "learning_rate", "batch_size")
"""What makes an arm; the trials of an arm differ in ``seed``."""


def table(records: Iterable[Record]) -> pd.DataFrame:
    """One row a trial.

    Columns: the ``FACTORS``, ``seed``, ``activation``, ``width`` (its own hidden units), ``n_parameters``, ``status`` (done or diverged),
    ``collapsed`` (one class for every validation image), ``train_loss`` (nats, mean over the training steps), ``val_`` and ``test_`` ``loss`` (nats),
    ``accuracy`` (%, higher is better; NaN where diverged) and ``largest_class_share``, and ``seconds``.

    Raises:
        BadInput: no record of this kind among them.
    """
    rows = [
        {
            **{factor: record["config"][factor] for factor in FACTORS},
            **{name: record[name] for name in ("activation", "width", "n_parameters")},
            **{name: value for name, value in trial.items() if name != "label"},
        }
        for record in records
        if record["kind"] == "mnist"
        for trial in record["trials"]
    ]
    if not rows:
        raise BadInput("no record of an image sweep; run `actlab run params/mnist-quick.yaml`")
    return pd.DataFrame(rows).sort_values([*FACTORS, "seed"], ignore_index=True)


def paired(trials: pd.DataFrame, first: str, second: str, value: str = "val_accuracy") -> pd.DataFrame:
    """``first`` and ``second`` network side by side: one row a seed and cell (hidden, learning rate, batch size), and their ``difference``.

    Trials of one seed and batch size share the order of the images, and the start where shapes agree, so differences are paired.
    """
    cells = ["hidden", "learning_rate", "batch_size", "seed"]
    sides = [trials[trials["network"] == name].set_index(cells)[value].rename(name) for name in (first, second)]
    for name, side in zip((first, second), sides, strict=True):
        if side.empty:
            raise BadInput(f"no trials of {name!r}; there are {', '.join(sorted(trials['network'].unique()))}")
    both = pd.concat(sides, axis=1)
    return both.assign(difference=both[first] - both[second]).reset_index()
