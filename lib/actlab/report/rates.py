"""What a tuning study has chosen, as tables."""

from __future__ import annotations

import pandas as pd

from actlab.records.rates import NOT_OTHER, choices
from actlab.records.settings import differing, named
from actlab.records.store import Record


def rates_of(study: str, records: list[Record]) -> dict[str, pd.DataFrame]:
    """Return the rates of the models and activations (or optimizers, symmetries and activations) among some records,
    empty where the study chooses none. A study that tunes under several settings has a column ``setting``.

    Returns:
        ``rates``: a row each, the chosen ``learning_rate`` (or ``rate_factor``), missing as long as trials are, its
        mean ``val_loss``, and how many ``trials`` it rests on. ``tried_rates``: a row a rate and seed, its ``val_loss``
        at the end, infinite where it diverged; whether its rate was ``chosen``.
    """
    arms = {record["arm"] for record in records}
    names = [name for name in differing(records) if name not in NOT_OTHER]
    chosen, tried = [], []
    for choice in choices(study):
        if choice.record["arm"] in arms:
            cell = choice.cell | ({"setting": named(choice.record, names)} if names else {})
            result = {choice.field: choice.rate, "val_loss": choice.loss, "trials": len(choice.losses)}
            chosen.append(cell | result)
            for (rate, seed), loss in sorted(choice.losses.items()):
                rates = {choice.field: rate, "seed": seed, "val_loss": loss, "chosen": rate == choice.rate}
                tried.append(cell | rates)
    return {"rates": pd.DataFrame(chosen), "tried_rates": pd.DataFrame(tried)}
