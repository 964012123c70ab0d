"""What a tuning study has chosen, as a table."""

from __future__ import annotations

import pandas as pd

from actlab.records.rates import NOT_OTHER, choices
from actlab.records.settings import differing, named
from actlab.records.store import Record


def rates_of(study: str, records: list[Record]) -> pd.DataFrame:
    """Return the rates of the models and activations (or optimizers, symmetries and activations) among some records,
    empty where the study chooses none: a row each, the chosen ``learning_rate`` (or ``rate_factor``), missing as long
    as trials are, its mean ``val_loss``, and how many ``trials`` it rests on. A study that tunes under several settings
    has a column ``setting``."""
    arms = {record["arm"] for record in records}
    names = [name for name in differing(records) if name not in NOT_OTHER]
    rows = []
    for choice in choices(study):
        if choice.record["arm"] in arms:
            cell = choice.cell | ({"setting": named(choice.record, names)} if names else {})
            rows.append(cell | {choice.field: choice.rate, "val_loss": choice.loss, "trials": len(choice.losses)})
    return pd.DataFrame(rows)
