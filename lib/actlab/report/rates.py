"""What a tuning study has chosen, as tables."""

from __future__ import annotations

import pandas as pd

from actlab.records.rates import choices
from actlab.records.settings import text
from actlab.records.store import Record


def rates_of(study: str, records: list[Record]) -> dict[str, pd.DataFrame]:
    """The rates of the models and activations (or optimizers, symmetries and activations) among some records, empty
    where the study chooses none. A cell that was tuned under several settings has a column ``setting``.

    Returns:
        ``rates``: a row each, the chosen ``learning_rate`` (or ``rate_factor``), missing as long as trials are, and its
        mean ``val_loss``; how many ``rates`` and ``trials`` it rests on, the lowest and highest rate that were tried.
        ``tried_rates``: a row a rate and seed, its ``val_loss`` at the end, infinite where it diverged; whether its
        rate was ``chosen``.
    """
    arms = {record["arm"] for record in records}
    tunings = [choice for choice in choices(study) if arms & {*choice.arms}]
    several = len({repr(choice.cell) for choice in tunings}) < len(tunings)
    names = [*dict.fromkeys(name for choice in tunings for name in choice.settings if several)]
    names = [name for name in names if len({repr(choice.settings.get(name)) for choice in tunings}) > 1]
    chosen, tried = [], []
    for choice in tunings:
        cell = choice.cell
        if names:
            cell = cell | {"setting": ", ".join(f"{name}={text(choice.settings.get(name))}" for name in names)}
        losses = sorted(choice.losses.items())  # the lowest rate first
        for (rate, seed), loss in losses:
            tried.append({**cell, choice.field: rate, "seed": seed, "val_loss": loss, "chosen": rate == choice.rate})
        rates = [rate for (rate, _), _ in losses]
        grid = {"rates": len({*rates}), "lowest": rates[0], "highest": rates[-1], "trials": len(rates)}
        chosen.append({**cell, choice.field: choice.rate, "val_loss": choice.loss, **grid})
    return {"rates": pd.DataFrame(chosen), "tried_rates": pd.DataFrame(tried)}
