"""Networks made in another way (averaged weights, ensembles, another schedule) beside the training of single networks:
what two of them differ by, at the end and at equal loss, over tidy tables."""

from __future__ import annotations

import pandas as pd

from actlab.statistics.equal_loss import arms_of, at_loss
from actlab.statistics.samples import SIDES, Columns, group_of, grouped, omissions, sample_of, tidy


def beside_training(
    curves: pd.DataFrame,
    along: pd.DataFrame,
    pairs: pd.DataFrame,
    losses: pd.DataFrame,
    metric: str = "total_variation",
    by: Columns = ("model", "activation"),
) -> pd.DataFrame:
    """Subtract from the metric of networks of another kind that of single networks of the same runs, at the end of
    training and where single networks had their loss; and again without each run, for the ``jackknife``.

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
    pairs, losses = tidy(pairs, [*by, *SIDES], (metric,)), tidy(losses, by, ("val_loss", "single_loss"))
    changes = grouped(losses.assign(change=losses["val_loss"] - losses["single_loss"]), by)
    training, _ = arms_of(curves, along, metric, by, None)
    rows = []
    for cell, own in grouped(pairs, by).items():
        if cell in training and cell in changes:
            others, changed = sample_of(own, metric, cell), sample_of(changes[cell], "change", cell)
            alone = training[cell]
            runs = sorted({*others.runs} & alone.runs)
            for left_out, kept in zip(("", *runs), omissions(runs), strict=True):
                x, y = alone.losses.over(kept), alone.pairs.over(kept)
                change = changed.over(kept)
                alike, extrapolated = at_loss(x, y, x[-1] + change)
                value = others.over(kept)
                rows.append([*cell, left_out, value - y[-1], value - alike, change, extrapolated])
    return pd.DataFrame(rows, columns=[*by, "left_out", "end", "equal_loss", "loss", "extrapolated"])
