"""How far one change takes a network, of how far another takes it: a ratio of two means over the same runs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from actlab.statistics.contrasts import jackknife, without_each
from actlab.statistics.samples import Columns, group_of, grouped


def share(part: pd.DataFrame, whole: pd.DataFrame, metric: str, by: Columns = ("model", "activation")) -> pd.DataFrame:
    """Give the mean of one table as a share of the mean of another, such as what one bit changes of what another seed
    changes; its interval leaves one run at a time out of both, on a logarithmic scale.

    >>> import actlab
    >>> seeds, changed = (actlab.load("recipe", kind)[1] for kind in ("trials", "perturbed"))
    >>> bit = changed[changed["variant"] == "nudge"]
    >>> actlab.share(bit, seeds, "total_variation")[["activation", "n", "estimate", "low", "high"]].head(1).round(2)
      activation  n  estimate   low  high
    0       relu  5      0.77  0.74  0.79

    Args:
        part, whole: two tables that ``means`` takes, of the same runs.
        metric, by: as of ``means``; the metric is not below 0.

    Returns:
        A row a group: ``n`` runs, ``value`` and ``reference`` (the two means), ``estimate`` = value / reference, its
        95% interval ``low``, ``high``; these are NaN where a mean is 0, or a table lacks a run.
    """
    by = group_of(by)
    parts, wholes = (without_each(table, metric, by) for table in (part, whole))
    both = pd.concat([parts, wholes.rename(columns={"value": "reference"})])
    both = both.groupby([*by, "left_out"], sort=False, dropna=False).first().reset_index()  # side by side
    rows = []
    for cell, own in grouped(both, by).items():
        ratio = own["value"] / own["reference"].where(own["reference"] != 0)
        found = jackknife(np.log(ratio.where(ratio > 0)))
        limits = np.exp(found[["low", "high"]])
        rows.append([*cell, int(found["n"]), own["value"].iloc[0], own["reference"].iloc[0], ratio.iloc[0], *limits])
    return pd.DataFrame(rows, columns=[*by, "n", "value", "reference", "estimate", "low", "high"])
