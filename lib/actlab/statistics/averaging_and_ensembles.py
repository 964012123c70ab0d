"""Networks made in another way (averaged weights, ensembles, another schedule) beside the training of single networks:
what two of them differ by, at the end and at equal loss, over tidy tables."""

from __future__ import annotations

import math

import pandas as pd

from actlab.statistics.contrasts import without_each
from actlab.statistics.equal_loss import at_loss
from actlab.statistics.groups import Columns, group_of, run_of, runs_of, tidy

SIDES = ["first", "second"]
"""Columns of a pair's two networks."""


def beside_training(
    curves: pd.DataFrame,
    along: pd.DataFrame,
    pairs: pd.DataFrame,
    losses: pd.DataFrame,
    metric: str = "total_variation",
    by: Columns = ("model", "activation"),
) -> pd.DataFrame:
    """The metric of networks of another kind minus that of single networks of the same runs, at the end of training and
    where single networks had their loss; and again without each run, for the ``jackknife``.

    >>> import actlab
    >>> curves, along = actlab.load_curves("answer"), actlab.load_pairs("answer", of="along")
    >>> averaged, losses = actlab.load_pairs("answer", of="average"), actlab.load_losses("answer", of="average")
    >>> found = actlab.beside_training(curves, along, averaged, losses)
    >>> found[["model", "activation", "left_out", "end", "equal_loss"]].head(2).round(3)
        model activation left_out    end  equal_loss
    0  charlm       relu          -0.077      -0.072
    1  charlm       relu     1000 -0.077      -0.072

    Equal loss: the other networks' metric minus what ``at_loss`` reads on the single networks' course, their mean
    metric against their mean loss.

    Args:
        curves, along: of the single networks, as of ``at_equal_loss``.
        pairs: a row a pair of the other networks, with the metric (``first``, ``second``: runs or tuples of runs).
        losses: a row such a network (``seed`` or ``members``): its ``val_loss`` and its runs' own, ``single_loss``.
        metric, by: as of ``means``.

    Returns:
        A row a group and omission: the group, ``left_out`` (the run; empty where none is), ``end`` and ``equal_loss``
        (unit of the metric; below 0: the other networks differ less), ``loss`` (nats; below 0: they predict better)
        and ``extrapolated`` (no evaluation of the single networks is so low).
    """
    by = group_of(by)
    curves = tidy(curves, [*by, "trial"], ("iteration", "val_loss"))
    along, pairs = tidy(along, [*by, *SIDES], ("iteration", metric)), tidy(pairs, [*by, *SIDES], (metric,))
    losses = tidy(losses, by, ("val_loss", "single_loss"))
    runs = frozenset[str]().union(*(runs_of(names) for side in SIDES for names in pairs[side]))
    plain = curves[curves["trial"].map(run_of).isin(runs) & curves["iteration"].isin(along["iteration"])]
    of_plain = along[along[SIDES].map(run_of).isin(runs).all(axis=1)]
    step, index = [*by, "iteration"], [*by, "left_out"]
    parts = {"x": without_each(plain, "val_loss", step), "y": without_each(of_plain, metric, step)}
    x, y = (part.set_index([*index, "iteration"])["value"].rename(name) for name, part in parts.items())
    lines = {key: line.to_numpy().T for key, line in pd.concat([x, y], axis=1, join="inner").groupby(index, sort=False)}
    changed = without_each(losses.assign(change=losses["val_loss"] - losses["single_loss"]), "change", by)
    changes = changed.set_index(index)["value"].to_dict()
    rows = []
    for *group, left_out, value in without_each(pairs, metric, by).to_numpy():
        if (cell := (*group, left_out)) in lines:
            x, y = lines[cell]
            change = changes.get(cell, changes.get((*group, ""), math.nan))  # a run may be in no disjoint ensemble
            alike, extrapolated = at_loss(x, y, x[-1] + change)
            rows.append([*cell, value - y[-1], value - alike, change, extrapolated])
    return pd.DataFrame(rows, columns=[*by, "left_out", "end", "equal_loss", "loss", "extrapolated"])
